-- What is known lies in files. Here is who wrote each version of them and what it held, what was taken down from which talk, and what is derived
-- from both so that it can be found.

-- Every version of a knowledge file, also those that a person made by hand.
ALTER TABLE files ADD COLUMN author TEXT NOT NULL DEFAULT 'program'; -- program, assistant, person (told us to), hand (found changed), found (after a restore)
ALTER TABLE files ADD COLUMN cause TEXT NOT NULL DEFAULT ''; -- what changed it: first, received, remember, save, section, file, edit, facts, learned, hand, promote, forget, restore, …
ALTER TABLE files ADD COLUMN replaces TEXT; -- until it stands in its place: SHA-256 of what it takes the place of, blank for nothing
CREATE INDEX files_unplaced ON files (id) WHERE replaces IS NOT NULL;

CREATE TABLE file_contents (
    file_id INTEGER NOT NULL PRIMARY KEY REFERENCES files (id), -- the version
    content BLOB NOT NULL                 -- what it held; the row goes when it is forgotten, or when too many newer ones came
) STRICT;

-- Derived: what the index has looked at. Can be deleted and made anew from the tree and the journal.
CREATE TABLE indexed (
    path TEXT NOT NULL PRIMARY KEY,       -- file, relative to the workspace, or //experience/…; conversations/N, reflections/N
    scope TEXT NOT NULL,                  -- whose it is
    stamp TEXT NOT NULL,                  -- what changes when it changes
    digest TEXT NOT NULL,                 -- SHA-256 of its bytes
    label TEXT NOT NULL,                  -- where they came from
    trouble TEXT NOT NULL DEFAULT '',     -- why it is not searched as it should be, in our own words
    size INTEGER NOT NULL,                -- bytes
    at INTEGER NOT NULL                   -- when it was written
) STRICT, WITHOUT ROWID;

-- Derived: one unit of knowledge each.
CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- entry; changes when the index is made anew
    key TEXT NOT NULL UNIQUE,             -- stable: SHA-256 over scope, path, section and name
    path TEXT NOT NULL REFERENCES indexed (path), -- where it stands
    section TEXT NOT NULL,                -- under which heading; blank above the first
    line INTEGER NOT NULL,                -- where in the file, from 1
    name TEXT NOT NULL,                   -- a fact's key, a note's title; blank for running text
    kind TEXT NOT NULL,                   -- fact, note, day, text, file, conversation, reflection
    category TEXT NOT NULL DEFAULT '',    -- preference, decision, fact, context, or what a note says of itself
    text TEXT NOT NULL,                   -- the words
    digest TEXT NOT NULL,                 -- SHA-256 of the words, under which their embedding is kept
    label TEXT NOT NULL,                  -- where they came from
    scope TEXT NOT NULL,                  -- whose they are
    at INTEGER NOT NULL                   -- when they were written
) STRICT;
CREATE INDEX entries_path ON entries (path);
CREATE INDEX entries_digest ON entries (digest);

-- Derived. Holds folded words only. `place` holds one word for scope and trust together, one for the kind, and one each for category, section and agent
-- where there is such, so that whatever a question is limited to is decided inside the index. It keeps its words, because an index that does not still
-- counts deleted rows when it ranks, and one that is made anew would give other answers.
CREATE VIRTUAL TABLE entries_fts USING fts5 (
    name, body, place, detail = 'full', tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO entries_fts (entries_fts, rank) VALUES ('rank', 'bm25(2.0, 1.0, 0.0)');

-- Derived: what of the journal changed since the index looked. Whatever changes a summary or a reflection leaves its mark here and takes what was
-- found of it before out of the index, in the same transaction.
CREATE TABLE unindexed (
    path TEXT NOT NULL PRIMARY KEY,       -- conversations/N, reflections/N
    scope TEXT NOT NULL                   -- whose it is
) STRICT, WITHOUT ROWID;

CREATE TRIGGER summary_came AFTER INSERT ON summaries BEGIN
    INSERT OR REPLACE INTO unindexed (path, scope) VALUES ('conversations/' || new.conversation_id, new.scope);
END;
CREATE TRIGGER summary_changed AFTER UPDATE OF state, title, topics, decisions, preferences, pending, label, scope ON summaries BEGIN
    DELETE FROM entries_fts WHERE rowid IN (SELECT id FROM entries WHERE path = 'conversations/' || old.conversation_id);
    DELETE FROM entries WHERE path = 'conversations/' || old.conversation_id;
    DELETE FROM indexed WHERE path = 'conversations/' || old.conversation_id;
    INSERT OR REPLACE INTO unindexed (path, scope) VALUES ('conversations/' || new.conversation_id, new.scope);
END;
CREATE TRIGGER summary_went AFTER DELETE ON summaries BEGIN
    DELETE FROM entries_fts WHERE rowid IN (SELECT id FROM entries WHERE path = 'conversations/' || old.conversation_id);
    DELETE FROM entries WHERE path = 'conversations/' || old.conversation_id;
    DELETE FROM indexed WHERE path = 'conversations/' || old.conversation_id;
    INSERT OR REPLACE INTO unindexed (path, scope) VALUES ('conversations/' || old.conversation_id, old.scope);
END;
CREATE TRIGGER reflection_came AFTER INSERT ON reflections BEGIN
    INSERT OR REPLACE INTO unindexed (path, scope) VALUES ('reflections/' || new.id, new.scope);
END;
CREATE TRIGGER reflection_changed AFTER UPDATE OF title, label, scope ON reflections BEGIN
    DELETE FROM entries_fts WHERE rowid IN (SELECT id FROM entries WHERE path = 'reflections/' || old.id);
    DELETE FROM entries WHERE path = 'reflections/' || old.id;
    DELETE FROM indexed WHERE path = 'reflections/' || old.id;
    INSERT OR REPLACE INTO unindexed (path, scope) VALUES ('reflections/' || new.id, new.scope);
END;
CREATE TRIGGER reflection_words_changed AFTER UPDATE OF text, label ON texts
WHEN EXISTS (SELECT 1 FROM reflections WHERE message_id = new.message_id) BEGIN
    UPDATE reflections SET title = title WHERE message_id = new.message_id;
END;
INSERT INTO unindexed (path, scope) SELECT DISTINCT 'conversations/' || conversation_id, scope FROM summaries WHERE true
    ON CONFLICT (path) DO NOTHING;
INSERT INTO unindexed (path, scope) SELECT 'reflections/' || id, scope FROM reflections;

-- What happened to entries; outlives every rebuilding.
CREATE TABLE entry_uses (
    key TEXT NOT NULL PRIMARY KEY,        -- the entry's stable key
    uses INTEGER NOT NULL,                -- how often a trusted turn was given it
    last_at INTEGER NOT NULL              -- when the last time
) STRICT, WITHOUT ROWID;

-- Derived, but paid for: kept by content, whatever it stands in.
CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- grows, so that whoever keeps vectors in memory finds the new ones
    model TEXT NOT NULL,                  -- provider/name/dimensions
    digest TEXT NOT NULL,                 -- SHA-256 of the words
    vector BLOB NOT NULL,                 -- 32-bit floats, little-endian, of length one; empty if no model takes the words
    UNIQUE (model, digest)
) STRICT;
CREATE INDEX embeddings_digest ON embeddings (digest);

-- Derived: under which digest the meaning of what was said is kept.
CREATE TABLE text_digests (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- grows, as above
    text_id INTEGER NOT NULL UNIQUE REFERENCES texts (id), -- the text
    digest TEXT NOT NULL                  -- SHA-256 of its words
) STRICT;
CREATE INDEX text_digests_digest ON text_digests (digest);

-- Derived, and built anew at the next start. Each word begins with whose it is and whether it is trusted (`p3tgarden`), so that a question walks only through
-- words of its own scope and counts only them. `day` is when it was said, in words.
DROP TABLE texts_fts;
CREATE VIRTUAL TABLE texts_fts USING fts5 (
    body, day,
    content = '', contentless_delete = 1, detail = 'full', tokenize = 'porter unicode61 remove_diacritics 2'
);

-- What a conversation was taken down to, and up to where.
ALTER TABLE conversations ADD COLUMN extracted_upto INTEGER NOT NULL DEFAULT 0; -- the last message whose facts were taken down
ALTER TABLE conversations ADD COLUMN compacted_upto INTEGER NOT NULL DEFAULT 0; -- the last turn that prompts show as a summary only

CREATE TABLE extractions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- job
    conversation_id INTEGER NOT NULL REFERENCES conversations (id), -- of what
    after_message INTEGER NOT NULL,       -- from after this message on
    upto_message INTEGER NOT NULL,        -- to this one
    cause TEXT NOT NULL,                  -- turns, pressure, compaction, boundary
    state TEXT NOT NULL,                  -- wanted, asked (the answer is stored), kept, nothing, given_up
    attempts INTEGER NOT NULL DEFAULT 0,  -- failed tries
    retry_at INTEGER NOT NULL,            -- not before
    facts TEXT NOT NULL DEFAULT '[]',     -- JSON: what the answer holds, stored before anything is written
    corrections TEXT NOT NULL DEFAULT '[]', -- JSON: what it says that a person put right
    model TEXT NOT NULL DEFAULT '',       -- who answered; rules when no model did
    label TEXT NOT NULL,                  -- where it came from
    scope TEXT NOT NULL,                  -- whose it is
    wanted_at INTEGER NOT NULL,           -- asked for
    ended_at INTEGER,                     -- kept, or given up
    UNIQUE (conversation_id, upto_message)
) STRICT;
CREATE INDEX extractions_due ON extractions (retry_at) WHERE state IN ('wanted', 'asked');

CREATE TABLE compactions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- job
    conversation_id INTEGER NOT NULL REFERENCES conversations (id), -- of what
    upto_turn INTEGER NOT NULL,           -- the last turn that the summary stands for
    upto_message INTEGER NOT NULL,        -- and its last message
    state TEXT NOT NULL,                  -- wanted, made, void (words of it went, or it was overtaken)
    attempts INTEGER NOT NULL DEFAULT 0,  -- failed tries
    retry_at INTEGER NOT NULL,            -- not before
    summary TEXT NOT NULL DEFAULT '',     -- what prompts show in the place of those turns
    model TEXT NOT NULL DEFAULT '',       -- who wrote it
    label TEXT NOT NULL,                  -- where it came from
    scope TEXT NOT NULL,                  -- whose it is
    wanted_at INTEGER NOT NULL,           -- asked for
    made_at INTEGER,                      -- made
    UNIQUE (conversation_id, upto_turn)
) STRICT;
CREATE INDEX compactions_due ON compactions (retry_at) WHERE state = 'wanted';

-- What a tainted turn wanted to keep, and what its person says to that.
CREATE TABLE keeps (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- text that may be kept
    turn_id INTEGER NOT NULL REFERENCES turns (id), -- which turn wanted it
    person_id INTEGER NOT NULL REFERENCES people (id), -- who is asked
    path TEXT NOT NULL,                   -- where it lies, as its owner sees it: memory/untrusted/…
    digest TEXT NOT NULL,                 -- SHA-256 of what lies there; a yes is for just that
    shown TEXT NOT NULL,                  -- the exact words that are shown
    label TEXT NOT NULL,                  -- where they came from
    scope TEXT NOT NULL,                  -- whose they are
    state TEXT NOT NULL,                  -- new, open (asked), yes (about to be done), kept, no, expired, changed (not what was shown)
    number INTEGER UNIQUE,                -- under which it is asked, from the counter of the questions; null before
    address_id INTEGER REFERENCES addresses (id), -- where it is asked, then where it was answered; null before
    wanted_at INTEGER NOT NULL,           -- wanted
    expires_at INTEGER,                   -- means no from then on; null before it is asked
    decided_at INTEGER,                   -- answered, or over
    UNIQUE (turn_id, path, digest)
) STRICT;
CREATE INDEX keeps_person ON keeps (person_id) WHERE state = 'open';
CREATE INDEX keeps_to_do ON keeps (id) WHERE state = 'yes';

-- What was read of a file that came with a message.
ALTER TABLE attachments ADD COLUMN text_path TEXT NOT NULL DEFAULT ''; -- where its words lie, if not in itself; relative to the workspace
ALTER TABLE attachments ADD COLUMN is_part INTEGER NOT NULL DEFAULT 0; -- 1 if prompts hold only the beginning of its words

-- What the provider counted for what we guessed.
ALTER TABLE spending ADD COLUMN guessed_tokens INTEGER NOT NULL DEFAULT 0; -- input tokens at a guess, before the call
-- Block 4 has a part that is shown once.
ALTER TABLE turns ADD COLUMN recalled TEXT NOT NULL DEFAULT ''; -- what came to mind at the beginning of a conversation, as the model saw it; trusted only
-- How full the window was.
ALTER TABLE turns ADD COLUMN counted INTEGER NOT NULL DEFAULT 0; -- tokens of its last model call, input and output, as the provider counted

-- What is to be forgotten. The row comes before anything goes, so that it is finished after a crash; when nothing holds the words any more, it holds none either.
CREATE TABLE forgettings (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- forgetting; people name it by this number to go on with it
    person_id INTEGER REFERENCES people (id), -- who asked, or who is forgotten as a whole; null on the command line
    kind TEXT NOT NULL,                   -- note, fact, person
    target TEXT NOT NULL,                 -- the note's path, the fact's key, the person's folder; blank when it is over
    needles TEXT NOT NULL,                -- JSON: the words that nothing may hold any more; [] when it is over
    messages INTEGER NOT NULL DEFAULT 0,  -- 1 when the messages that it grew from are to go as well
    state TEXT NOT NULL,                  -- wanted, left (something that was not asked for holds it still), done
    counts TEXT NOT NULL DEFAULT '{}',    -- JSON: how much of what went
    label TEXT NOT NULL,                  -- where the words came from
    scope TEXT NOT NULL,                  -- whose it is
    wanted_at INTEGER NOT NULL,           -- asked for
    ended_at INTEGER                      -- looked for and not found any more, or left
) STRICT;
CREATE INDEX forgettings_open ON forgettings (id) WHERE state <> 'done';
