-- What a person allows for one conversation: that a file which they sent counts as theirs, or that a tool of another
-- program is used without a question. Labels have a third part now: `vouched:SOURCE` for each source that a person
-- has vouched for.

CREATE TABLE grants (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- grant
    conversation_id INTEGER NOT NULL REFERENCES conversations (id), -- where it holds
    person_id INTEGER NOT NULL REFERENCES people (id), -- who gave it
    kind TEXT NOT NULL,                   -- source, tool
    subject TEXT NOT NULL,                -- the source as in a label, or the name under which the tool is offered
    covers TEXT NOT NULL DEFAULT '',      -- of a tool: SHA-256 over server, tool and the arguments that must stay the same
    sources TEXT NOT NULL,                -- label of the conversation then; another source ends it
    uses_left INTEGER,                    -- how often it can still be used; no limit if NULL
    given_at INTEGER NOT NULL,            -- given
    ended_at INTEGER,                     -- taken back, or over
    scope TEXT NOT NULL                   -- whose it is
) STRICT;
CREATE INDEX grants_open ON grants (conversation_id) WHERE ended_at IS NULL;

ALTER TABLE steps ADD COLUMN grant_id INTEGER REFERENCES grants (id); -- the grant under which a call was made without a question
