-- Groups, other names of an address, messages that go away, and what is sent besides text.

-- A Signal address is declared by number and known by account identifier.
ALTER TABLE addresses ADD COLUMN alias TEXT NOT NULL DEFAULT ''; -- the name it was declared by, once the peer is known by another
-- Joining two people is asked for twice.
ALTER TABLE pairing_codes ADD COLUMN asked_at_address INTEGER REFERENCES addresses (id); -- where it was given once, and told what it would mean
-- Where somebody likes to be reached.
ALTER TABLE people ADD COLUMN prefer TEXT NOT NULL DEFAULT ''; -- the adapter through which notices go; blank for where they wrote last
-- A group's stream belongs to its address.
ALTER TABLE streams ADD COLUMN address_id INTEGER REFERENCES addresses (id); -- the group (chat and topic) whose one stream it is
CREATE UNIQUE INDEX streams_address ON streams (address_id) WHERE address_id IS NOT NULL;
-- Who speaks in a group without being known.
ALTER TABLE messages ADD COLUMN guest INTEGER NOT NULL DEFAULT 0; -- the number of the guest who said it; 0 when a known person or we did
-- Where a change of a message gives it a name of its own, later changes and deletions go by that.
ALTER TABLE messages ADD COLUMN also TEXT NOT NULL DEFAULT ''; -- the name that its last change gave it; blank when it has but one
CREATE INDEX messages_also ON messages (address_id, also) WHERE also <> '';
-- What its sender or a timer wants gone.
ALTER TABLE messages ADD COLUMN expires_after INTEGER; -- goes so long after it was answered, in milliseconds; null for never
ALTER TABLE messages ADD COLUMN gone_at INTEGER; -- its words are gone since, because of a timer or because its sender deleted it
-- A reply in a group quotes what it answers.
ALTER TABLE outbox ADD COLUMN quotes TEXT NOT NULL DEFAULT ''; -- external id of the message that it answers, or puts an emoji under
-- A file is a part of what is delivered.
ALTER TABLE parts ADD COLUMN file TEXT NOT NULL DEFAULT ''; -- path of the file that it is, relative to the workspace; blank for text

CREATE TABLE groups (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- group
    adapter TEXT NOT NULL,                -- where it is
    account TEXT NOT NULL,                -- which account of ours is in it
    chat TEXT NOT NULL,                   -- its id there now
    allowed_as TEXT NOT NULL,             -- the id by which the configuration allows it: the first one, before any upgrade
    first_at INTEGER NOT NULL,            -- first heard of
    UNIQUE (adapter, account, chat)
) STRICT;

CREATE TABLE guests (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- guest
    stream_id INTEGER NOT NULL REFERENCES streams (id), -- the group's stream in which they spoke
    sender TEXT NOT NULL,                 -- their id with the adapter
    number INTEGER NOT NULL,              -- what the assistant knows them by, counted in that stream from 1
    UNIQUE (stream_id, sender)
) STRICT;

CREATE TABLE reactions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- reaction
    message_id INTEGER NOT NULL REFERENCES messages (id), -- what it stands under
    person_id INTEGER NOT NULL REFERENCES people (id), -- who put it there
    emoji TEXT NOT NULL,                  -- which; blank since it was taken away
    told TEXT NOT NULL DEFAULT '',        -- which of them the assistant was last told of
    at INTEGER NOT NULL,                  -- when
    UNIQUE (message_id, person_id)
) STRICT;

-- Where the words of a message came in besides: a later picture of its album, a change.
ALTER TABLE inbox ADD COLUMN message_id INTEGER REFERENCES messages (id); -- the message that it became a part of, or changed; null for what became one itself
CREATE INDEX inbox_message ON inbox (message_id) WHERE message_id IS NOT NULL;
-- Whoever read a conversation must know when words of it went.
ALTER TABLE conversations ADD COLUMN revision INTEGER NOT NULL DEFAULT 0; -- how often words of it went before their time
CREATE INDEX messages_timed ON messages (id) WHERE expires_after IS NOT NULL AND gone_at IS NULL;
CREATE INDEX attachments_gone ON attachments (id) WHERE state = 'gone' AND path <> '';
-- What a turn is told of reactions, as the model saw it.
ALTER TABLE turns ADD COLUMN reacted TEXT NOT NULL DEFAULT ''; -- what people put under messages since the turn before, in our own words
CREATE INDEX parts_file ON parts (file) WHERE file <> '';
-- A file is sent as it was when it was chosen.
ALTER TABLE parts ADD COLUMN digest TEXT NOT NULL DEFAULT ''; -- SHA-256 of the bytes of its file; blank for text

CREATE TABLE deleted_ahead (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- deletion of a message that has not come
    address_id INTEGER NOT NULL REFERENCES addresses (id), -- where it was to come
    sender TEXT NOT NULL,                 -- who deleted it, by their id with the adapter
    external_id TEXT NOT NULL,            -- the message's id with the adapter
    at INTEGER NOT NULL,                  -- when
    UNIQUE (address_id, sender, external_id)
) STRICT;

CREATE TABLE enclosures (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- what goes out with a reply besides its text
    turn_id INTEGER NOT NULL REFERENCES turns (id), -- with the reply of which turn
    kind TEXT NOT NULL,                   -- file, reaction
    what TEXT NOT NULL,                   -- the file's path relative to the workspace; the emoji
    digest TEXT NOT NULL DEFAULT '',      -- SHA-256 of the file's bytes when it was chosen
    UNIQUE (turn_id, kind, what)
) STRICT;
