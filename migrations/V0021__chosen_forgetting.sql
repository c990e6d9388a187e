-- A person can choose what of a plan is forgotten, and values changed by hand are followed.

ALTER TABLE forgettings ADD COLUMN choice TEXT NOT NULL DEFAULT '{}'; -- JSON: keys of what the person left out, and of what they took in besides; {} when it is over

-- Values changed by hand are followed from now on, not those of the past.
INSERT OR IGNORE INTO meta (key, value) SELECT 'hand_edits', CAST(coalesce(max(id), 0) AS TEXT) FROM files;
