-- Archives of other programs. What one brought can be found by the source import:ID in its labels, and is deleted with it.

CREATE TABLE imports (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- import
    stream_id INTEGER NOT NULL REFERENCES streams (id), -- stream of the person who has what it brought
    kind TEXT NOT NULL,                   -- chatgpt, claude, telegram
    name TEXT NOT NULL,                   -- name of the archive's file; blank once the import is removed
    scope TEXT NOT NULL,                  -- whose it is
    state TEXT NOT NULL,                  -- open (may be cut off), done, leaving (being removed), gone
    may_embed INTEGER NOT NULL,           -- 1 if its texts may be sent to the embedding server
    began_at INTEGER NOT NULL,            -- first begun
    ended_at INTEGER                      -- complete, or removed
) STRICT;

ALTER TABLE conversations ADD COLUMN import_id INTEGER REFERENCES imports (id); -- the import that brought it; null for our own
CREATE INDEX conversations_import ON conversations (import_id, id) WHERE import_id IS NOT NULL;
-- Each message of an archive is stored once, however often it is imported.
CREATE INDEX messages_imported ON messages (stream_id, external_id) WHERE kind = 'imported';
