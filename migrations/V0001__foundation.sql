-- What happened, from the first message on. Instants are UTC milliseconds. Labels are `trusted` or sources separated by
-- spaces; scopes are `person:N`, `group:N` or `shared`. Rows are never renumbered, columns never change their meaning.

CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY, -- name of a single fact about this journal
    value TEXT NOT NULL            -- the fact
) STRICT, WITHOUT ROWID;

CREATE TABLE people (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- person
    name TEXT NOT NULL,                   -- configured name; the only name that prompts use
    role TEXT NOT NULL,                   -- owner or member
    declared TEXT NOT NULL,               -- config or pairing: who says that they are allowed
    created_at INTEGER NOT NULL,          -- first seen in the configuration, or paired
    removed_at INTEGER                    -- no longer allowed since; their rows stay
) STRICT;
CREATE UNIQUE INDEX people_name ON people (lower(name)) WHERE removed_at IS NULL;

CREATE TABLE addresses (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- address
    person_id INTEGER REFERENCES people (id), -- whose it is; null for a stranger who was sent a line
    adapter TEXT NOT NULL,                -- telegram, terminal, …
    account TEXT NOT NULL,                -- which of our own accounts there
    peer TEXT NOT NULL,                   -- the other side, as the adapter spells it
    linked_at INTEGER NOT NULL,           -- when it was joined to the person
    last_heard_at INTEGER NOT NULL DEFAULT 0, -- when the person last wrote from here
    wait_until INTEGER NOT NULL DEFAULT 0,    -- nothing may be sent here before
    UNIQUE (adapter, account, peer)
) STRICT;
CREATE INDEX addresses_person ON addresses (person_id);

CREATE TABLE strangers (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- stranger
    adapter TEXT NOT NULL,                -- where they wrote
    account TEXT NOT NULL,                -- to which account of ours
    sender TEXT NOT NULL,                 -- their id there; nothing that they wrote is kept
    first_at INTEGER NOT NULL,            -- first heard
    last_at INTEGER NOT NULL,             -- last heard
    count INTEGER NOT NULL DEFAULT 1,     -- how often
    told_day TEXT NOT NULL DEFAULT '',    -- local day on which they were last sent the one line
    guesses INTEGER NOT NULL DEFAULT 0,   -- wrong pairing codes on guess_day
    guess_day TEXT NOT NULL DEFAULT '',   -- local day that guesses counts for
    UNIQUE (adapter, account, sender)
) STRICT;

CREATE TABLE pairing_codes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- code
    digest TEXT NOT NULL UNIQUE,          -- SHA-256 of the code; the code itself is shown once and not kept
    name TEXT NOT NULL,                   -- whom it lets in, or to whom it links the address
    role TEXT NOT NULL,                   -- as what
    created_at INTEGER NOT NULL,          -- made
    expires_at INTEGER NOT NULL,          -- worthless from then on
    used_at INTEGER                       -- used, once
) STRICT;

CREATE TABLE cursors (
    adapter TEXT NOT NULL,       -- telegram, …
    account TEXT NOT NULL,       -- our account there
    cursor TEXT NOT NULL,        -- what confirms everything stored so far
    last_event_at INTEGER NOT NULL, -- the last batch
    PRIMARY KEY (adapter, account)
) STRICT, WITHOUT ROWID;

CREATE TABLE inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- raw item
    adapter TEXT NOT NULL,                -- who received it
    account TEXT NOT NULL,                -- for which account
    external_id TEXT NOT NULL,            -- the same item has the same id, however often it comes
    received_at INTEGER NOT NULL,         -- stored
    fate TEXT NOT NULL,                   -- admitted, command, edit, button, unsupported, stranger, nothing, unreadable
    raw TEXT NOT NULL,                    -- the original; blank for strangers, and for all after seven days
    UNIQUE (adapter, account, external_id)
) STRICT;
CREATE INDEX inbox_raw ON inbox (received_at) WHERE raw <> '';

CREATE TABLE streams (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- stream
    person_id INTEGER UNIQUE REFERENCES people (id), -- the person whose one stream it is
    scope TEXT NOT NULL,                  -- whose text it holds
    break_at INTEGER                      -- the next message begins a new conversation because of /new, given then
) STRICT;

CREATE TABLE conversations (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- conversation
    stream_id INTEGER NOT NULL REFERENCES streams (id), -- its stream
    kind TEXT NOT NULL,                   -- chat, …
    scope TEXT NOT NULL,                  -- whose it is
    began_because TEXT NOT NULL,          -- first, silence, new
    opened_at INTEGER NOT NULL,           -- effective time of its first message
    last_at INTEGER NOT NULL,             -- effective time of its last message so far
    last_message_id INTEGER NOT NULL DEFAULT 0, -- its last message so far
    messages INTEGER NOT NULL DEFAULT 0,  -- how many messages it was given
    closed_at INTEGER,                    -- when the next one began, or /new was given
    written_down INTEGER NOT NULL DEFAULT 0, -- whether the summaries of its present end are asked for
    opening TEXT NOT NULL DEFAULT '',     -- what it begins with: summary and titles of earlier ones, as placed in prompts
    opening_state TEXT NOT NULL DEFAULT 'none' -- none, standin (may be swapped once), final
) STRICT;
CREATE INDEX conversations_stream ON conversations (stream_id, id);
CREATE INDEX conversations_not_written_down ON conversations (last_at) WHERE written_down = 0;

CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- message
    stream_id INTEGER NOT NULL REFERENCES streams (id), -- its stream
    conversation_id INTEGER REFERENCES conversations (id), -- its conversation; null for commands
    inbox_id INTEGER REFERENCES inbox (id), -- the raw item it came as; null for what we said
    address_id INTEGER REFERENCES addresses (id), -- where it came from
    person_id INTEGER REFERENCES people (id), -- who said it; null for the assistant
    kind TEXT NOT NULL,                   -- said, command, reply
    scope TEXT NOT NULL,                  -- whose it is
    external_id TEXT NOT NULL DEFAULT '', -- its id with the adapter
    album TEXT NOT NULL DEFAULT '',       -- joined with others of the same album
    received_at INTEGER NOT NULL,         -- stored
    server_at INTEGER,                    -- the server's stamp
    effective_at INTEGER NOT NULL,        -- the time that counts
    state TEXT NOT NULL,                  -- queued, claimed, answered, closed; done for what we said
    reason TEXT NOT NULL DEFAULT '',      -- why it was closed without an answer
    turn_id INTEGER REFERENCES turns (id), -- the turn that answers it, or that it is the answer of
    edited_at INTEGER                     -- changed by its sender
) STRICT;
CREATE INDEX messages_waiting ON messages (stream_id, id) WHERE state IN ('queued', 'claimed');
CREATE INDEX messages_conversation ON messages (conversation_id, id);
CREATE INDEX messages_turn ON messages (turn_id);
CREATE INDEX messages_external ON messages (address_id, external_id) WHERE external_id <> '';

CREATE TABLE texts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- text
    message_id INTEGER NOT NULL REFERENCES messages (id), -- what it is part of
    kind TEXT NOT NULL,                   -- said, quote, transcript, file, edit
    text TEXT NOT NULL,                   -- the words, here and nowhere else
    label TEXT NOT NULL,                  -- where they came from
    scope TEXT NOT NULL                   -- whose they are
) STRICT;
CREATE INDEX texts_message ON texts (message_id, id);

-- Derived: can be deleted and rebuilt from texts with the same answers. Holds folded words only, never read back. `place` is one word for
-- scope and trust together, so that a question walks through one long list and not two.
CREATE VIRTUAL TABLE texts_fts USING fts5 (
    body, place,
    content = '', contentless_delete = 1, detail = 'full', tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TABLE attachments (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- file that came with a message
    message_id INTEGER NOT NULL REFERENCES messages (id), -- the message
    kind TEXT NOT NULL,                   -- photo, voice, document
    reference TEXT NOT NULL,              -- how the adapter finds it
    mime TEXT NOT NULL,                   -- type as claimed by the sender's program
    name TEXT NOT NULL,                   -- name as given by the sender; never a path
    size INTEGER,                         -- bytes, if known
    state TEXT NOT NULL,                  -- remote, here, failed
    path TEXT NOT NULL DEFAULT '',        -- where it lies, relative to the workspace
    digest TEXT NOT NULL DEFAULT '',      -- SHA-256 of its bytes
    trouble TEXT NOT NULL DEFAULT '',     -- why it could not be fetched
    label TEXT NOT NULL,                  -- where it came from
    scope TEXT NOT NULL                   -- whose it is
) STRICT;
CREATE INDEX attachments_message ON attachments (message_id);

CREATE TABLE turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- turn
    stream_id INTEGER NOT NULL REFERENCES streams (id), -- its stream
    conversation_id INTEGER NOT NULL REFERENCES conversations (id), -- its conversation
    person_id INTEGER REFERENCES people (id), -- for whom it runs
    address_id INTEGER NOT NULL REFERENCES addresses (id), -- where the answer goes
    scope TEXT NOT NULL,                  -- whose it is
    state TEXT NOT NULL,                  -- running, waiting (model down), done, stopped, gave_up
    claimed_at INTEGER NOT NULL,          -- began
    ended_at INTEGER,                     -- ended
    context TEXT NOT NULL DEFAULT '',     -- the dynamic block as the model saw it; blank when unchanged since the last copy
    context_label TEXT NOT NULL,          -- where that came from
    label TEXT NOT NULL,                  -- join of all that the turn has read so far
    attempts INTEGER NOT NULL DEFAULT 0,  -- failed tries of its current model call
    retry_at INTEGER,                     -- when to try again
    noticed INTEGER NOT NULL DEFAULT 0,   -- whether the person was told that the model is down
    reason TEXT NOT NULL DEFAULT ''       -- why it ended without an answer
) STRICT;
CREATE INDEX turns_open ON turns (stream_id) WHERE state IN ('running', 'waiting');
CREATE INDEX turns_conversation ON turns (conversation_id, id);

CREATE TABLE steps (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- step
    turn_id INTEGER NOT NULL REFERENCES turns (id), -- its turn
    seq INTEGER NOT NULL,                 -- order within the turn, from 0
    kind TEXT NOT NULL,                   -- model, tool
    state TEXT NOT NULL,                  -- started, done
    tool TEXT NOT NULL DEFAULT '',        -- the tool's name
    call TEXT NOT NULL DEFAULT '',        -- the call: JSON of one tool call; of all the reply's calls for a model step
    text TEXT NOT NULL DEFAULT '',        -- what the model said besides, or what the tool gave
    model TEXT NOT NULL DEFAULT '',       -- who answered
    label TEXT NOT NULL,                  -- where the result came from
    scope TEXT NOT NULL,                  -- whose it is
    started_at INTEGER NOT NULL,          -- began
    ended_at INTEGER,                     -- stored
    UNIQUE (turn_id, seq)
) STRICT;

CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- thing to be delivered
    address_id INTEGER NOT NULL REFERENCES addresses (id), -- to where
    kind TEXT NOT NULL,                   -- reply, notice, answer (to a command)
    message_id INTEGER UNIQUE REFERENCES messages (id), -- the reply whose text it is; then text is blank
    text TEXT NOT NULL DEFAULT '',        -- Markdown, for what is no message
    label TEXT NOT NULL,                  -- where the text came from
    scope TEXT NOT NULL,                  -- whose it is
    buttons TEXT NOT NULL DEFAULT '[]',   -- JSON: [[title, data]]
    state TEXT NOT NULL,                  -- pending, sent, failed
    created_at INTEGER NOT NULL,          -- written
    ended_at INTEGER,                     -- delivered, or given up
    attempts INTEGER NOT NULL DEFAULT 0,  -- failed tries of its current part
    retry_at INTEGER NOT NULL DEFAULT 0,  -- not before
    trouble TEXT NOT NULL DEFAULT ''      -- the last failure, in our own words
) STRICT;
CREATE INDEX outbox_pending ON outbox (address_id, id) WHERE state = 'pending';

CREATE TABLE parts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- piece as it goes over the wire
    outbox_id INTEGER NOT NULL REFERENCES outbox (id), -- what it is a piece of
    seq INTEGER NOT NULL,                 -- order, from 0
    rich TEXT NOT NULL,                   -- in the channel's markup; blank once sent
    plain TEXT NOT NULL,                  -- without markup; blank once sent
    buttons TEXT NOT NULL DEFAULT '[]',   -- JSON: [[title, data]]
    state TEXT NOT NULL,                  -- waiting, sending, sent, failed
    form TEXT NOT NULL DEFAULT 'rich',    -- rich, or plain after the markup was refused
    repeated INTEGER NOT NULL DEFAULT 0,  -- may have been sent before: a cut-off or unclear attempt
    external_id TEXT NOT NULL DEFAULT '', -- its id with the adapter
    UNIQUE (outbox_id, seq)
) STRICT;
CREATE INDEX parts_external ON parts (external_id) WHERE external_id <> '';

CREATE TABLE previews (
    turn_id INTEGER NOT NULL PRIMARY KEY REFERENCES turns (id), -- whose growing answer it shows
    address_id INTEGER NOT NULL REFERENCES addresses (id), -- where
    external_id TEXT NOT NULL             -- the message that shows it; blank while its first sending is not confirmed
) STRICT;

CREATE TABLE summaries (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- summary; a wanted one is the job to make it
    conversation_id INTEGER NOT NULL REFERENCES conversations (id), -- of what
    last_message_id INTEGER NOT NULL,     -- up to which message
    view TEXT NOT NULL,                   -- trusted (the trusted projection) or full (everything)
    state TEXT NOT NULL,                  -- wanted, standin (extractive until a real one succeeds), made, void
    attempts INTEGER NOT NULL DEFAULT 0,  -- failed tries
    retry_at INTEGER NOT NULL,            -- not before
    title TEXT NOT NULL DEFAULT '',       -- a few words
    topics TEXT NOT NULL DEFAULT '[]',    -- JSON list
    decisions TEXT NOT NULL DEFAULT '[]', -- JSON list
    preferences TEXT NOT NULL DEFAULT '[]', -- JSON list
    pending TEXT NOT NULL DEFAULT '[]',   -- JSON list
    model TEXT NOT NULL DEFAULT '',       -- who wrote it; extract when no model did
    label TEXT NOT NULL,                  -- where it came from
    scope TEXT NOT NULL,                  -- whose it is
    wanted_at INTEGER NOT NULL,           -- asked for
    made_at INTEGER,                      -- written
    UNIQUE (conversation_id, last_message_id, view)
) STRICT;
CREATE INDEX summaries_due ON summaries (retry_at) WHERE state IN ('wanted', 'standin');

CREATE TABLE spending (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- one model call
    turn_id INTEGER REFERENCES turns (id), -- for which turn, if for one
    person_id INTEGER REFERENCES people (id), -- for whom
    scope TEXT NOT NULL,                  -- whose purse
    purpose TEXT NOT NULL,                -- chat, summary, …
    model TEXT NOT NULL,                  -- provider/name
    day TEXT NOT NULL,                    -- local day
    at INTEGER NOT NULL,                  -- reserved
    state TEXT NOT NULL,                  -- reserved (the worst case counts), spent
    priced INTEGER NOT NULL,              -- whether micros counts, or tokens do
    input_tokens INTEGER NOT NULL,        -- all input
    cached_tokens INTEGER NOT NULL DEFAULT 0, -- of it, from the provider's cache
    output_tokens INTEGER NOT NULL,       -- output
    micros INTEGER NOT NULL               -- money in micro-units
) STRICT;
CREATE INDEX spending_day ON spending (day, scope);

CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- version of a file that we wrote
    path TEXT NOT NULL,                   -- relative to the workspace
    digest TEXT NOT NULL,                 -- SHA-256 of its content
    label TEXT NOT NULL,                  -- where the content came from
    scope TEXT NOT NULL,                  -- whose it is
    written_at INTEGER NOT NULL           -- committed before the file is renamed into place
) STRICT;
CREATE INDEX files_path ON files (path, id);

CREATE TABLE derived_from (
    child TEXT NOT NULL,  -- what grew: turn:N, summary:N, file:N
    parent TEXT NOT NULL, -- from what: message:N, turn:N, summary:N, file:N, attachment:N
    PRIMARY KEY (child, parent)
) STRICT, WITHOUT ROWID;
CREATE INDEX derived_from_parent ON derived_from (parent);
