-- What the program does by itself, when, and what became of it. Labels, scopes and instants are those of V0001.

ALTER TABLE streams ADD COLUMN work_of INTEGER REFERENCES people (id); -- for whom the program works here by itself; null for talk
CREATE UNIQUE INDEX streams_work ON streams (work_of) WHERE work_of IS NOT NULL;

ALTER TABLE steps ADD COLUMN failed INTEGER NOT NULL DEFAULT 0; -- a tool call that gave an error, or was refused
CREATE INDEX steps_tools ON steps (started_at) WHERE kind = 'tool';
CREATE INDEX messages_said ON messages (stream_id, received_at) WHERE kind = 'said';
CREATE INDEX spending_at ON spending (scope, at);

CREATE TABLE slots (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- slot
    job TEXT NOT NULL,                    -- daily, weekly, monthly, heartbeat, upkeep, task:N, reminder:N
    scope TEXT NOT NULL,                  -- for whom; shared for the house itself
    period TEXT NOT NULL,                 -- the local period it covers (2026-11-20, 2026-W47, 2026-11), or for what covers none the instant it was due
    run INTEGER NOT NULL DEFAULT 1,       -- 2 and more when an operator asked for it again
    from_at INTEGER NOT NULL,             -- the period's first instant, by received time
    to_at INTEGER NOT NULL,               -- the first instant after it
    due_at INTEGER NOT NULL,              -- when it was to run
    state TEXT NOT NULL,                  -- claimed, working, done, quiet (nothing to look at), missed (too long ago), failed
    conversation_id INTEGER REFERENCES conversations (id), -- in which the work is done
    tries INTEGER NOT NULL DEFAULT 0,     -- how often a model was asked for its result
    retry_at INTEGER,                     -- when it is asked once more, after an answer that was none
    reason TEXT NOT NULL DEFAULT '',      -- why it is missed or failed, in our own words
    claimed_at INTEGER NOT NULL,          -- claimed
    ended_at INTEGER,                     -- over
    UNIQUE (job, scope, period, run)
) STRICT;
CREATE INDEX slots_open ON slots (id) WHERE state IN ('claimed', 'working');
CREATE INDEX slots_window ON slots (scope, job, to_at);

CREATE TABLE reflections (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- reflection
    slot_id INTEGER NOT NULL UNIQUE REFERENCES slots (id), -- the slot that it fills
    turn_id INTEGER NOT NULL REFERENCES turns (id), -- the turn whose answer it is
    message_id INTEGER NOT NULL UNIQUE REFERENCES messages (id), -- holds its text as people read it, in Markdown
    title TEXT NOT NULL,                  -- a few words
    label TEXT NOT NULL,                  -- join of all that was read for it
    scope TEXT NOT NULL,                  -- whose it is
    at INTEGER NOT NULL                   -- stored
) STRICT;

CREATE TABLE actions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- something that a reflection proposes
    reflection_id INTEGER NOT NULL REFERENCES reflections (id), -- which
    seq INTEGER NOT NULL,                 -- order within it, from 0
    kind TEXT NOT NULL,                   -- create_skill, change_skill, promote_note, memory, configuration, other
    title TEXT NOT NULL,                  -- one line
    payload TEXT NOT NULL,                -- JSON: everything else that was said of it
    state TEXT NOT NULL,                  -- new, taken (counts for its day), proposed, suggested, refused, over_limit, malformed
    day TEXT NOT NULL DEFAULT '',         -- the local day whose limit it counts for
    proposal_id INTEGER REFERENCES proposals (id), -- what it became
    reason TEXT NOT NULL DEFAULT '',      -- why it became nothing, in our own words
    label TEXT NOT NULL,                  -- where it came from
    scope TEXT NOT NULL,                  -- whose it is
    ended_at INTEGER,                     -- its state is final
    UNIQUE (reflection_id, seq)
) STRICT;
CREATE INDEX actions_open ON actions (id) WHERE state IN ('new', 'taken');
CREATE INDEX actions_day ON actions (day) WHERE day <> '';

CREATE TABLE reminders (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- reminder, or task that comes back
    person_id INTEGER NOT NULL REFERENCES people (id), -- for whom
    kind TEXT NOT NULL,                   -- reminder (told as it is), task (the assistant is asked to do it)
    text TEXT NOT NULL,                   -- what to say or do
    label TEXT NOT NULL,                  -- where the words came from
    scope TEXT NOT NULL,                  -- whose it is
    cron TEXT NOT NULL DEFAULT '',        -- when it comes back; blank for once
    next_at INTEGER,                      -- when it is due next; null when it is over
    turn_id INTEGER REFERENCES turns (id), -- the turn in which it was made
    created_at INTEGER NOT NULL,          -- made
    state TEXT NOT NULL,                  -- waiting, done, cancelled
    ended_at INTEGER                      -- over
) STRICT;
CREATE INDEX reminders_waiting ON reminders (next_at) WHERE state = 'waiting';
CREATE INDEX reminders_person ON reminders (person_id, id);
