-- The heartbeat of each owner: when it looked last, how often it found nothing new, and what is ticked.

CREATE TABLE heartbeats (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- state of one owner's heartbeat
    person_id INTEGER NOT NULL UNIQUE REFERENCES people (id), -- whose
    checked_at INTEGER NOT NULL,      -- HEARTBEAT.md was looked at last
    next_at INTEGER NOT NULL,         -- it is looked at next
    ran_at INTEGER,                   -- the last run began; null if there was none
    inputs TEXT NOT NULL DEFAULT '',  -- digest of file, ticks, memory and day of that run (under way: of the file); blank if the next look runs anyway
    quiet INTEGER NOT NULL DEFAULT 0  -- runs without news since the inputs changed last
) STRICT;

CREATE TABLE heartbeat_ticks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- an item of HEARTBEAT.md that is done
    person_id INTEGER NOT NULL REFERENCES people (id), -- whose file
    digest TEXT NOT NULL,             -- of the item's words
    turn_id INTEGER REFERENCES turns (id), -- the turn that ticked it; null for the owner's command
    ticked_at INTEGER NOT NULL,       -- ticked
    UNIQUE (person_id, digest)
) STRICT;

DELETE FROM meta WHERE key = 'heartbeat_at';
CREATE INDEX messages_cause ON messages (stream_id, cause, id) WHERE kind = 'sent';
