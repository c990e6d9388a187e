-- A person can choose what of a plan is forgotten.

ALTER TABLE forgettings ADD COLUMN choice TEXT NOT NULL DEFAULT '{}'; -- JSON: keys of what the person left out, and of what they took in besides; {} when it is over
