-- The schema of the journal, by family. Later versions change it by migrations of their own.
--
-- Times (`…_at`) are UTC milliseconds; days and periods are local. A scope says whose a row is: `person:N`, `group:N` (the
-- group's stream) or `shared`. A label says where a text came from: `trusted`, or its sources separated by spaces; then
-- `approved:VERSION` for each accepted third-party skill that had a part in it, and `vouched:SOURCE` for each source that a
-- person has vouched for. Unless a comment says otherwise, blank text means none, and 0 or 1 means no or yes.
--
-- An id is never used twice, a column never changes its meaning, and a new column is the last of its table. Tables marked as
-- derived can be emptied; the program fills them again.

-- The journal itself

CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY, -- name of a fact about this journal
    value TEXT NOT NULL            -- the fact
) STRICT, WITHOUT ROWID;

-- Health over time: one row for each change of a part.
CREATE TABLE health_changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- change
    part TEXT NOT NULL,                   -- program, model, or the name of a channel
    state TEXT NOT NULL,                  -- state from then on: well, ill, off
    at INTEGER NOT NULL                   -- time of the change
) STRICT;
CREATE INDEX health_changes_part ON health_changes (part, at);

-- People

CREATE TABLE people (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- person
    name TEXT NOT NULL,                        -- configured name, the only one that prompts use
    role TEXT NOT NULL,                        -- owner, member
    declared TEXT NOT NULL,                    -- what gives access: config, pairing
    created_at INTEGER NOT NULL,               -- first seen in the configuration, or paired
    removed_at INTEGER,                        -- access revoked; the rows of the person stay
    prefer TEXT NOT NULL DEFAULT '',           -- adapter for notices; blank for the one last written from
    folder TEXT NOT NULL DEFAULT '',           -- folder of their files, relative to the workspace, unless they own its root; blank until there are any; it keeps its name
    ended TEXT NOT NULL DEFAULT '',            -- reason why access is never given again: forgotten, joined (to another person)
    namesake_id INTEGER REFERENCES people (id), -- earlier person of the same name, until an owner says whether both are one
    zone TEXT NOT NULL DEFAULT '',             -- configured time zone; blank for that of the home
    quiet_hours TEXT NOT NULL DEFAULT '22:00-07:00', -- local times of day without disturbance
    language TEXT NOT NULL DEFAULT '',         -- configured language, as a code
    channel_language TEXT NOT NULL DEFAULT '', -- language that their channel last reported, as a code
    own_language TEXT NOT NULL DEFAULT '',     -- language that they chose, as a code
    own_zone TEXT NOT NULL DEFAULT ''          -- time zone that they chose
) STRICT;
CREATE UNIQUE INDEX people_name ON people (lower(name)) WHERE removed_at IS NULL;
CREATE UNIQUE INDEX people_folder ON people (folder) WHERE folder <> '';

CREATE TABLE addresses (
    id INTEGER PRIMARY KEY AUTOINCREMENT,     -- address
    person_id INTEGER REFERENCES people (id), -- person; null for a stranger who was sent a line
    adapter TEXT NOT NULL,                    -- telegram, signal, terminal
    account TEXT NOT NULL,                    -- our account there
    peer TEXT NOT NULL,                       -- the other side, as the adapter spells it
    linked_at INTEGER NOT NULL,               -- linked to the person
    last_heard_at INTEGER NOT NULL DEFAULT 0, -- last message of the person from here
    wait_until INTEGER NOT NULL DEFAULT 0,    -- time before which nothing may be sent here
    alias TEXT NOT NULL DEFAULT '',           -- declared name of a peer that is known by another one now
    UNIQUE (adapter, account, peer)
) STRICT;
CREATE INDEX addresses_person ON addresses (person_id);

-- Addresses in the configuration. They say who a person is before any channel is connected.
CREATE TABLE declared_addresses (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- declared address
    person_id INTEGER NOT NULL REFERENCES people (id), -- person to whom the configuration gave it last, removed or not
    adapter TEXT NOT NULL,                     -- telegram, signal
    peer TEXT NOT NULL,                        -- id, number or account identifier, as configured
    UNIQUE (adapter, peer)
) STRICT;
CREATE INDEX declared_addresses_person ON declared_addresses (person_id);

-- Senders without access. Nothing that they write is stored.
CREATE TABLE strangers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,    -- stranger
    adapter TEXT NOT NULL,                   -- telegram, signal
    account TEXT NOT NULL,                   -- our account there
    sender TEXT NOT NULL,                    -- their id with the adapter
    first_at INTEGER NOT NULL,               -- first message
    last_at INTEGER NOT NULL,                -- last message
    count INTEGER NOT NULL DEFAULT 1,        -- number of messages
    told_day TEXT NOT NULL DEFAULT '',       -- day on which they were last sent a line
    guesses INTEGER NOT NULL DEFAULT 0,      -- wrong pairing codes on guess_day
    guess_day TEXT NOT NULL DEFAULT '',      -- day that guesses counts for
    name TEXT NOT NULL DEFAULT '',           -- name that the channel reports, untrusted; blank after a week or once ignored
    told INTEGER NOT NULL DEFAULT 0,         -- number of lines sent on told_day
    announced_at INTEGER NOT NULL DEFAULT 0, -- owners notified; 0 for never
    ignored_at INTEGER NOT NULL DEFAULT 0,   -- ignored by an owner; 0 for never
    is_group INTEGER NOT NULL DEFAULT 0,     -- 1 for a group
    UNIQUE (adapter, account, sender)
) STRICT;
CREATE INDEX strangers_told ON strangers (told_day);
CREATE INDEX strangers_announced ON strangers (announced_at) WHERE announced_at > 0;

CREATE TABLE pairing_codes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- pairing code
    digest TEXT NOT NULL UNIQUE,               -- SHA-256 of the code, which is shown once and not stored
    name TEXT NOT NULL,                        -- name of the person
    role TEXT NOT NULL,                        -- role of a newcomer
    created_at INTEGER NOT NULL,               -- created
    expires_at INTEGER NOT NULL,               -- void from then on
    used_at INTEGER,                           -- used
    asked_at_address INTEGER REFERENCES addresses (id), -- address from which it came first and was answered by what it would do
    issuer_id INTEGER REFERENCES people (id),  -- issuer; null for the command line
    person_id INTEGER REFERENCES people (id)   -- person to whom it links an address; null for a newcomer
) STRICT;

CREATE TABLE groups (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- group
    adapter TEXT NOT NULL,                -- telegram, signal
    account TEXT NOT NULL,                -- our account in it
    chat TEXT NOT NULL,                   -- its present id
    allowed_as TEXT NOT NULL,             -- its first id, by which the configuration allows it
    first_at INTEGER NOT NULL,            -- first heard of
    UNIQUE (adapter, account, chat)
) STRICT;

-- Members of a group without access of their own.
CREATE TABLE guests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- guest
    stream_id INTEGER NOT NULL REFERENCES streams (id), -- stream of the group
    sender TEXT NOT NULL,                      -- their id with the adapter
    number INTEGER NOT NULL,                   -- number by which the assistant knows them in that stream, from 1
    UNIQUE (stream_id, sender)
) STRICT;

-- Owner of the workspace root. Only a hand-over changes it.
CREATE TABLE workspace (
    id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id = 1), -- always 1: there is one root
    owner_id INTEGER NOT NULL REFERENCES people (id) -- owner, with access or without
) STRICT;

-- A hand-over of the root that is under way. The row is written before the first rename, and deleted together with the change
-- of the paths in all other tables. Until then no file of the two people is read.
CREATE TABLE folder_moves (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- hand-over
    kind TEXT NOT NULL,                        -- hand_over
    state TEXT NOT NULL,                       -- begun, cleared (the root is empty)
    person_id INTEGER NOT NULL REFERENCES people (id), -- former owner of the root
    heir_id INTEGER REFERENCES people (id),    -- new owner of the root
    source TEXT NOT NULL DEFAULT '',           -- old folder of the new owner
    target TEXT NOT NULL DEFAULT ''            -- new folder of the former owner
) STRICT;

-- Receiving

-- Position in the updates of each account. It confirms everything stored so far.
CREATE TABLE cursors (
    adapter TEXT NOT NULL,          -- telegram, signal
    account TEXT NOT NULL,          -- our account there
    cursor TEXT NOT NULL,           -- position, as the adapter spells it
    last_event_at INTEGER NOT NULL, -- last batch
    PRIMARY KEY (adapter, account)
) STRICT, WITHOUT ROWID;

-- Raw items, each once.
CREATE TABLE inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- raw item
    adapter TEXT NOT NULL,                     -- adapter that received it
    account TEXT NOT NULL,                     -- our account there
    external_id TEXT NOT NULL,                 -- its id, the same however often it is delivered
    received_at INTEGER NOT NULL,              -- stored
    fate TEXT NOT NULL,                        -- admitted, command, edit, button, unsupported, stranger, nothing, unreadable
    raw TEXT NOT NULL,                         -- the original; blank for strangers, and for all after seven days
    message_id INTEGER REFERENCES messages (id), -- message that it changed or became a part of; null if it became one itself
    UNIQUE (adapter, account, external_id)
) STRICT;
CREATE INDEX inbox_raw ON inbox (received_at) WHERE raw <> '';
CREATE INDEX inbox_loose ON inbox (received_at) WHERE fate IN ('stranger', 'nothing', 'unreadable');
CREATE INDEX inbox_message ON inbox (message_id) WHERE message_id IS NOT NULL;

-- Deletions of messages that have not arrived.
CREATE TABLE deleted_ahead (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- deletion
    address_id INTEGER NOT NULL REFERENCES addresses (id), -- address of the message
    sender TEXT NOT NULL,                      -- id of its sender with the adapter
    external_id TEXT NOT NULL,                 -- id of the message with the adapter
    at INTEGER NOT NULL,                       -- received
    UNIQUE (address_id, sender, external_id)
) STRICT;

-- Conversations

-- One sequence of messages each: of a person, of the program's own work for them, or of a group.
CREATE TABLE streams (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- stream
    person_id INTEGER UNIQUE REFERENCES people (id), -- person whose chats it holds
    scope TEXT NOT NULL,                       -- scope of its texts
    break_at INTEGER,                          -- time of a /new that makes the next message begin a conversation
    work_of INTEGER REFERENCES people (id),    -- person for whom the program works here by itself
    address_id INTEGER REFERENCES addresses (id) -- group (chat and topic) whose messages it holds
) STRICT;
CREATE UNIQUE INDEX streams_work ON streams (work_of) WHERE work_of IS NOT NULL;
CREATE UNIQUE INDEX streams_address ON streams (address_id) WHERE address_id IS NOT NULL;

CREATE TABLE conversations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- conversation
    stream_id INTEGER NOT NULL REFERENCES streams (id), -- its stream
    kind TEXT NOT NULL,                        -- chat, piped, reflection, heartbeat, task
    scope TEXT NOT NULL,                       -- whose it is
    began_because TEXT NOT NULL,               -- first, silence, new, piped, schedule
    opened_at INTEGER NOT NULL,                -- effective time of its first message
    last_at INTEGER NOT NULL,                  -- effective time of its last message
    last_message_id INTEGER NOT NULL DEFAULT 0, -- its last message; 0 for none
    messages INTEGER NOT NULL DEFAULT 0,       -- number of messages
    closed_at INTEGER,                         -- next one began, or /new was given
    written_down INTEGER NOT NULL DEFAULT 0,   -- 1 if summaries up to its present end are requested
    opening TEXT NOT NULL DEFAULT '',          -- beginning of its prompts: summary and titles of earlier conversations
    opening_state TEXT NOT NULL DEFAULT 'none', -- none, standin (may be replaced once), final
    forgotten_at INTEGER,                      -- texts deleted for their age
    revision INTEGER NOT NULL DEFAULT 0,       -- number of deletions of texts before their time
    extracted_upto INTEGER NOT NULL DEFAULT 0, -- last message whose facts were extracted; 0 for none
    compacted_upto INTEGER NOT NULL DEFAULT 0, -- last turn that prompts show only as part of a summary; 0 for none
    opening_label TEXT NOT NULL DEFAULT '',    -- label of the opening; unknown while it is blank
    import_id INTEGER REFERENCES imports (id), -- import that brought it
    label TEXT NOT NULL DEFAULT ''             -- join of the labels of its texts and turns, which never loses a source
) STRICT;
CREATE INDEX conversations_stream ON conversations (stream_id, id);
CREATE INDEX conversations_not_written_down ON conversations (last_at) WHERE written_down = 0;
CREATE INDEX conversations_remembered ON conversations (last_at) WHERE forgotten_at IS NULL;
-- The clock must not be behind the last message of a chat.
CREATE INDEX conversations_last ON conversations (last_at) WHERE kind = 'chat';
CREATE INDEX conversations_to_write_down ON conversations (id) WHERE written_down = 0;
CREATE INDEX conversations_import ON conversations (import_id, id) WHERE import_id IS NOT NULL;
-- No query uses it: a label was blank only in development versions.
CREATE INDEX conversations_unlabelled ON conversations (id) WHERE label = '';
CREATE INDEX conversations_kind ON conversations (kind, id);
CREATE INDEX conversations_stream_kind ON conversations (stream_id, kind, id);
CREATE INDEX conversations_opened ON conversations (stream_id, kind, opened_at, messages);

CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- message
    stream_id INTEGER NOT NULL REFERENCES streams (id), -- its stream
    conversation_id INTEGER REFERENCES conversations (id), -- its conversation; null for a command
    inbox_id INTEGER REFERENCES inbox (id),    -- raw item; null for a message of ours
    address_id INTEGER REFERENCES addresses (id), -- address that it came from
    person_id INTEGER REFERENCES people (id),  -- author; null for the assistant and for guests
    kind TEXT NOT NULL,                        -- said, command, reply, task, reflection, sent (unasked), imported
    scope TEXT NOT NULL,                       -- whose it is
    external_id TEXT NOT NULL DEFAULT '',      -- its id with the adapter, or in the archive that it came from
    album TEXT NOT NULL DEFAULT '',            -- album, whose messages are joined
    received_at INTEGER NOT NULL,              -- stored
    server_at INTEGER,                         -- time stamp of the server
    effective_at INTEGER NOT NULL,             -- time that counts
    state TEXT NOT NULL,                       -- queued, claimed, answered, closed; done for a message of ours
    reason TEXT NOT NULL DEFAULT '',           -- why it was closed without an answer
    turn_id INTEGER REFERENCES turns (id),     -- turn that answers it; of a reply, the turn that wrote it
    edited_at INTEGER,                         -- edited by its sender
    guest INTEGER NOT NULL DEFAULT 0,          -- number of the guest who wrote it; 0 for none
    also TEXT NOT NULL DEFAULT '',             -- second external id, given by its last edit
    expires_after INTEGER,                     -- milliseconds after the answer at which it disappears; null for never
    gone_at INTEGER,                           -- text deleted by a timer or by its sender
    tries INTEGER NOT NULL DEFAULT 0,          -- of a command: how often it was begun
    cause TEXT,                                -- of a sent one: reminder, task, …; else null
    cause_id INTEGER,                          -- of a sent one: id of that reminder, …
    shown_to INTEGER REFERENCES turns (id)     -- of a sent one: turn whose prompt showed it first
) STRICT;
CREATE INDEX messages_waiting ON messages (stream_id, id) WHERE state IN ('queued', 'claimed');
CREATE INDEX messages_conversation ON messages (conversation_id, id);
CREATE INDEX messages_turn ON messages (turn_id);
CREATE INDEX messages_external ON messages (address_id, external_id) WHERE external_id <> '';
CREATE INDEX messages_said ON messages (stream_id, received_at) WHERE kind = 'said';
CREATE INDEX messages_edited ON messages (edited_at) WHERE edited_at IS NOT NULL;
CREATE INDEX messages_apart ON messages (received_at) WHERE conversation_id IS NULL;
CREATE INDEX messages_also ON messages (address_id, also) WHERE also <> '';
CREATE INDEX messages_timed ON messages (id) WHERE expires_after IS NOT NULL AND gone_at IS NULL;
CREATE INDEX messages_sent ON messages (stream_id, id) WHERE kind = 'sent' AND shown_to IS NULL;
CREATE INDEX messages_shown ON messages (shown_to) WHERE shown_to IS NOT NULL;
CREATE INDEX messages_cause ON messages (stream_id, cause, id) WHERE kind = 'sent';
-- Each message of an archive is stored once, however often it is imported.
CREATE INDEX messages_imported ON messages (stream_id, external_id) WHERE kind = 'imported';
CREATE INDEX messages_stream ON messages (stream_id, id);

CREATE TABLE texts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- text
    message_id INTEGER NOT NULL REFERENCES messages (id), -- its message
    kind TEXT NOT NULL,                        -- said, quote, transcript, file, edit, carried (along with the message, typed by no one)
    text TEXT NOT NULL,                        -- the words, stored only here
    label TEXT NOT NULL,                       -- where they came from
    scope TEXT NOT NULL,                       -- whose they are
    shown_to INTEGER NOT NULL DEFAULT 0        -- of an edit of an answered message: turn that was shown it, -1 until then; else 0
) STRICT;
CREATE INDEX texts_message ON texts (message_id, id);
CREATE INDEX texts_shown ON texts (shown_to) WHERE shown_to <> 0;

-- Derived: index of the texts. It stores no text. Each word begins with its scope and whether it is trusted (`p3tgarden`), so
-- that a query reads and counts only words of its own scope. `day` is the date in words.
CREATE VIRTUAL TABLE texts_fts USING fts5 (
    body, day,
    content = '', contentless_delete = 1, detail = 'full', tokenize = 'porter unicode61 remove_diacritics 2'
);

-- Derived: key of the embedding of each text.
CREATE TABLE text_digests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- row; higher than all before, so that a cache finds the new ones
    text_id INTEGER NOT NULL UNIQUE REFERENCES texts (id), -- text
    digest TEXT NOT NULL                       -- SHA-256 of its words
) STRICT;
CREATE INDEX text_digests_digest ON text_digests (digest);

CREATE TABLE attachments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- received file
    message_id INTEGER NOT NULL REFERENCES messages (id), -- its message
    kind TEXT NOT NULL,                        -- photo, voice, sound, document
    reference TEXT NOT NULL,                   -- id by which the adapter fetches it
    mime TEXT NOT NULL,                        -- type, as reported by the sender's program
    name TEXT NOT NULL,                        -- name given by the sender, never a path
    size INTEGER,                              -- bytes, if known
    state TEXT NOT NULL,                       -- remote, here, failed, gone
    path TEXT NOT NULL DEFAULT '',             -- where it is stored, relative to the workspace
    digest TEXT NOT NULL DEFAULT '',           -- SHA-256 of its bytes
    trouble TEXT NOT NULL DEFAULT '',          -- why it could not be fetched
    label TEXT NOT NULL,                       -- where it came from
    scope TEXT NOT NULL,                       -- whose it is
    text_path TEXT NOT NULL DEFAULT '',        -- file with its extracted text, relative to the workspace
    is_part INTEGER NOT NULL DEFAULT 0         -- 1 if prompts show only the beginning of its text
) STRICT;
CREATE INDEX attachments_message ON attachments (message_id);
CREATE INDEX attachments_here ON attachments (id) WHERE state = 'here';
CREATE INDEX attachments_gone ON attachments (id) WHERE state = 'gone' AND path <> '';

CREATE TABLE reactions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- reaction
    message_id INTEGER NOT NULL REFERENCES messages (id), -- message
    person_id INTEGER NOT NULL REFERENCES people (id), -- person
    emoji TEXT NOT NULL,                       -- emoji; blank once taken away
    told TEXT NOT NULL DEFAULT '',             -- emoji that the assistant was last told of
    at INTEGER NOT NULL,                       -- received
    UNIQUE (message_id, person_id)
) STRICT;
CREATE INDEX reactions_untold ON reactions (message_id) WHERE emoji <> told;

-- Archives of other programs. All labels of an import have the source import:ID, and it is deleted by that source.
CREATE TABLE imports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- import
    stream_id INTEGER NOT NULL REFERENCES streams (id), -- stream of the person who has what it brought
    kind TEXT NOT NULL,                        -- chatgpt, claude, telegram, …
    name TEXT NOT NULL,                        -- file name of the archive; blank once the import is removed
    scope TEXT NOT NULL,                       -- whose it is
    state TEXT NOT NULL,                       -- open (may be cut off), done, leaving (being removed), gone
    may_embed INTEGER NOT NULL,                -- 1 if its texts may be sent to the embedding server
    began_at INTEGER NOT NULL,                 -- first begun
    ended_at INTEGER                           -- complete, or removed
) STRICT;

-- Turns

CREATE TABLE turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- turn
    stream_id INTEGER NOT NULL REFERENCES streams (id), -- its stream
    conversation_id INTEGER NOT NULL REFERENCES conversations (id), -- its conversation
    person_id INTEGER REFERENCES people (id),  -- person for whom it runs
    address_id INTEGER NOT NULL REFERENCES addresses (id), -- address of the answer
    scope TEXT NOT NULL,                       -- whose it is
    state TEXT NOT NULL,                       -- running, waiting (the model is unreachable), done, stopped, gave_up
    claimed_at INTEGER NOT NULL,               -- begun
    ended_at INTEGER,                          -- ended
    context TEXT NOT NULL DEFAULT '',          -- dynamic part of the prompt; blank if it equals the last one stored
    context_label TEXT NOT NULL,               -- label of the context
    label TEXT NOT NULL,                       -- join of the labels of all that the turn has read
    attempts INTEGER NOT NULL DEFAULT 0,       -- failed tries of its current model call
    retry_at INTEGER,                          -- next try
    noticed INTEGER NOT NULL DEFAULT 0,        -- 1 if the person was told that the model is unreachable
    reason TEXT NOT NULL DEFAULT '',           -- why it ended without an answer
    reacted TEXT NOT NULL DEFAULT '',          -- reactions since the turn before, in the program's words
    recalled TEXT NOT NULL DEFAULT '',         -- memories shown at the beginning of the conversation, trusted only
    counted INTEGER NOT NULL DEFAULT 0,        -- tokens of its last model call, input and output, counted by the provider
    lives INTEGER NOT NULL DEFAULT 0           -- how often it was resumed after the program had ended
) STRICT;
CREATE INDEX turns_open ON turns (stream_id) WHERE state IN ('running', 'waiting');
CREATE INDEX turns_conversation ON turns (conversation_id, id);

CREATE TABLE steps (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- step
    turn_id INTEGER NOT NULL REFERENCES turns (id), -- its turn
    seq INTEGER NOT NULL,                      -- order within the turn, from 0
    kind TEXT NOT NULL,                        -- model, tool
    state TEXT NOT NULL,                       -- started, done
    tool TEXT NOT NULL DEFAULT '',             -- name of the tool
    call TEXT NOT NULL DEFAULT '',             -- JSON: the call; of a model step, all calls of the reply
    text TEXT NOT NULL DEFAULT '',             -- text of the reply, or result of the tool
    model TEXT NOT NULL DEFAULT '',            -- model that replied
    label TEXT NOT NULL,                       -- where the result came from
    scope TEXT NOT NULL,                       -- whose it is
    started_at INTEGER NOT NULL,               -- begun
    ended_at INTEGER,                          -- stored
    failed INTEGER NOT NULL DEFAULT 0,         -- 1 for a call that failed or was refused
    made INTEGER NOT NULL DEFAULT 1,           -- 0 for a call that a rule refused or put to the person
    grant_id INTEGER REFERENCES grants (id),   -- grant that allowed the call without a question
    version_id INTEGER REFERENCES skill_versions (id), -- version of a skill that the call read
    UNIQUE (turn_id, seq)
) STRICT;
CREATE INDEX steps_tools ON steps (started_at) WHERE kind = 'tool';

-- Calls that wait for a yes before they send something.
CREATE TABLE questions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- question
    stream_id INTEGER NOT NULL REFERENCES streams (id), -- its stream
    conversation_id INTEGER NOT NULL REFERENCES conversations (id), -- its conversation
    turn_id INTEGER NOT NULL REFERENCES turns (id), -- turn that ended with it
    step_id INTEGER NOT NULL REFERENCES steps (id), -- call that was not made
    person_id INTEGER NOT NULL REFERENCES people (id), -- person who may answer
    address_id INTEGER NOT NULL REFERENCES addresses (id), -- address where it was asked
    call TEXT NOT NULL,                        -- JSON: the call
    covers TEXT NOT NULL,                      -- what a yes allows: host:example.org, or call
    digest TEXT NOT NULL,                      -- SHA-256 of the tool's name and the arguments
    state TEXT NOT NULL,                       -- open, yes, refused, expired
    asked_at INTEGER NOT NULL,                 -- asked
    expires_at INTEGER NOT NULL,               -- counts as a no from then on
    decided_at INTEGER,                        -- answered, or expired
    continued_by INTEGER REFERENCES turns (id), -- turn that a yes began
    label TEXT NOT NULL,                       -- where the words of the call came from
    scope TEXT NOT NULL                        -- whose it is
) STRICT;
CREATE INDEX questions_open ON questions (stream_id) WHERE state = 'open';
CREATE INDEX questions_continued ON questions (continued_by) WHERE continued_by IS NOT NULL;

-- What a person allows for one conversation.
CREATE TABLE grants (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- grant
    conversation_id INTEGER NOT NULL REFERENCES conversations (id), -- conversation that it is for
    person_id INTEGER NOT NULL REFERENCES people (id), -- person who gave it
    kind TEXT NOT NULL,                        -- source (counts as theirs), tool, destination (used without a question)
    subject TEXT NOT NULL,                     -- source as in a label, offered name of the tool, or destination
    covers TEXT NOT NULL DEFAULT '',           -- of a tool: SHA-256 of server, tool and the arguments that must stay the same
    sources TEXT NOT NULL,                     -- label of the conversation at that time; a further source ends the grant
    uses_left INTEGER,                         -- remaining uses; null for no limit
    given_at INTEGER NOT NULL,                 -- given
    ended_at INTEGER,                          -- taken back, or ended
    scope TEXT NOT NULL                        -- whose it is
) STRICT;
CREATE INDEX grants_open ON grants (conversation_id) WHERE ended_at IS NULL;

-- What is sent with a reply besides its text.
CREATE TABLE enclosures (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- enclosure
    turn_id INTEGER NOT NULL REFERENCES turns (id), -- turn of the reply
    kind TEXT NOT NULL,                        -- file, picture, reaction
    what TEXT NOT NULL,                        -- path of the file, relative to the workspace, or the emoji
    digest TEXT NOT NULL DEFAULT '',           -- SHA-256 of the bytes of the file when it was chosen
    UNIQUE (turn_id, kind, what)
) STRICT;

-- Messages that show an answer while it is written.
CREATE TABLE previews (
    turn_id INTEGER NOT NULL PRIMARY KEY REFERENCES turns (id), -- turn that writes the answer
    address_id INTEGER NOT NULL REFERENCES addresses (id), -- address
    external_id TEXT NOT NULL                  -- id of the message with the adapter; blank until it is confirmed
) STRICT;

-- What each text was made from.
CREATE TABLE derived_from (
    child TEXT NOT NULL,  -- turn:N, summary:N, file:N
    parent TEXT NOT NULL, -- message:N, turn:N, summary:N, file:N, attachment:N
    PRIMARY KEY (child, parent)
) STRICT, WITHOUT ROWID;
CREATE INDEX derived_from_parent ON derived_from (parent);

-- Derived: fingerprints of untrusted texts, to recognise pasted ones (winnowing; Schleimer, Wilkerson and Aiken, 2003).
CREATE TABLE fingerprints (
    hash INTEGER NOT NULL, -- hash of fifty characters
    node TEXT NOT NULL,    -- text that has them: text:N, step:N, file:N (of a proposal), reason:N, verdict:N
    PRIMARY KEY (hash, node)
) STRICT, WITHOUT ROWID;

-- Delivery

CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- delivery
    address_id INTEGER NOT NULL REFERENCES addresses (id), -- address
    kind TEXT NOT NULL,                        -- reply, notice, answer (to a command), reaction
    message_id INTEGER UNIQUE REFERENCES messages (id), -- message whose text it delivers; then text is blank
    text TEXT NOT NULL DEFAULT '',             -- Markdown of a delivery that is no message
    label TEXT NOT NULL,                       -- where the text came from
    scope TEXT NOT NULL,                       -- whose it is
    buttons TEXT NOT NULL DEFAULT '[]',        -- JSON: [[title, data]]
    state TEXT NOT NULL,                       -- pending, sent, failed
    created_at INTEGER NOT NULL,               -- created
    ended_at INTEGER,                          -- delivered, or given up
    attempts INTEGER NOT NULL DEFAULT 0,       -- failed tries of its current part
    retry_at INTEGER NOT NULL DEFAULT 0,       -- next try, not before
    trouble TEXT NOT NULL DEFAULT '',          -- last failure, in the program's words
    quotes TEXT NOT NULL DEFAULT '',           -- external id of the message that it answers or reacts to
    failed_at INTEGER NOT NULL DEFAULT 0,      -- last failed try of its current part; 0 for none
    set_aside INTEGER NOT NULL DEFAULT 0,      -- set aside, so that the queue goes on; it can be sent again; 0 for not
    tells_of INTEGER NOT NULL DEFAULT 0,       -- of a notice: delivery that it reports as set aside; 0 for none
    urgency TEXT NOT NULL DEFAULT 'asked',     -- asked (an answer, which stays at its address), rings, silent, kept
    repeated INTEGER NOT NULL DEFAULT 0,       -- 1 if some of it may have been seen at an earlier address
    decision TEXT NOT NULL DEFAULT '',         -- text in place of its buttons; blank while they can be used
    decided_at INTEGER NOT NULL DEFAULT 0,     -- time of that decision; 0 for none
    replacements_left INTEGER NOT NULL DEFAULT 0 -- remaining tries to replace the buttons; 0 once done or given up
) STRICT;
CREATE INDEX outbox_pending ON outbox (address_id, id) WHERE state = 'pending';
CREATE INDEX outbox_words ON outbox (created_at) WHERE text <> '';
CREATE INDEX outbox_set_aside ON outbox (id) WHERE set_aside > 0;
CREATE INDEX outbox_sent ON outbox (ended_at) WHERE state = 'sent';
CREATE INDEX outbox_buttons ON outbox (id) WHERE buttons <> '[]';
CREATE INDEX outbox_decided ON outbox (address_id) WHERE replacements_left > 0;
-- Not of all deliveries: such an index would draw the queries of the queue off their own.
CREATE INDEX outbox_answers ON outbox (address_id, id) WHERE message_id IS NULL;

-- Deliveries in pieces that one request can send.
CREATE TABLE parts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- part
    outbox_id INTEGER NOT NULL REFERENCES outbox (id), -- its delivery
    seq INTEGER NOT NULL,                      -- order, from 0
    rich TEXT NOT NULL,                        -- text in the markup of the channel; blank once sent
    plain TEXT NOT NULL,                       -- text without markup; blank once sent
    buttons TEXT NOT NULL DEFAULT '[]',        -- JSON: [[title, data]]
    state TEXT NOT NULL,                       -- waiting, sending, sent, failed
    form TEXT NOT NULL DEFAULT 'rich',         -- rich; plain after the markup was refused
    repeated INTEGER NOT NULL DEFAULT 0,       -- 1 if it may have been sent before, by an attempt with an unknown result
    external_id TEXT NOT NULL DEFAULT '',      -- its id with the adapter
    file TEXT NOT NULL DEFAULT '',             -- path of its file, relative to the workspace; blank for text
    digest TEXT NOT NULL DEFAULT '',           -- SHA-256 of the bytes of its file; blank for text
    UNIQUE (outbox_id, seq)
) STRICT;
CREATE INDEX parts_external ON parts (external_id) WHERE external_id <> '';
CREATE INDEX parts_file ON parts (file) WHERE file <> '';

-- Summaries and facts of conversations. A wanted row is the job to make it.

CREATE TABLE summaries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- summary
    conversation_id INTEGER NOT NULL REFERENCES conversations (id), -- its conversation
    last_message_id INTEGER NOT NULL,          -- last message that it covers
    view TEXT NOT NULL,                        -- trusted (trusted texts only), full
    state TEXT NOT NULL,                       -- wanted, standin (of excerpts, until a model writes one), made, void
    attempts INTEGER NOT NULL DEFAULT 0,       -- failed tries
    retry_at INTEGER NOT NULL,                 -- next try, not before
    title TEXT NOT NULL DEFAULT '',            -- a few words
    topics TEXT NOT NULL DEFAULT '[]',         -- JSON list
    decisions TEXT NOT NULL DEFAULT '[]',      -- JSON list
    preferences TEXT NOT NULL DEFAULT '[]',    -- JSON list
    pending TEXT NOT NULL DEFAULT '[]',        -- JSON list
    model TEXT NOT NULL DEFAULT '',            -- model that wrote it; extract for excerpts
    label TEXT NOT NULL,                       -- where it came from
    scope TEXT NOT NULL,                       -- whose it is
    wanted_at INTEGER NOT NULL,                -- requested
    made_at INTEGER,                           -- written
    UNIQUE (conversation_id, last_message_id, view)
) STRICT;
CREATE INDEX summaries_due ON summaries (retry_at) WHERE state IN ('wanted', 'standin');

-- Summaries in place of the earlier turns of a long conversation.
CREATE TABLE compactions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- compaction
    conversation_id INTEGER NOT NULL REFERENCES conversations (id), -- its conversation
    upto_turn INTEGER NOT NULL,                -- last turn that it replaces
    upto_message INTEGER NOT NULL,             -- last message of that turn
    state TEXT NOT NULL,                       -- wanted, made, void (texts of it were deleted, or a later one came first)
    attempts INTEGER NOT NULL DEFAULT 0,       -- failed tries
    retry_at INTEGER NOT NULL,                 -- next try, not before
    summary TEXT NOT NULL DEFAULT '',          -- text that prompts show in place of those turns
    model TEXT NOT NULL DEFAULT '',            -- model that wrote it
    label TEXT NOT NULL,                       -- where it came from
    scope TEXT NOT NULL,                       -- whose it is
    wanted_at INTEGER NOT NULL,                -- requested
    made_at INTEGER,                           -- written
    UNIQUE (conversation_id, upto_turn)
) STRICT;
CREATE INDEX compactions_due ON compactions (retry_at) WHERE state = 'wanted';

CREATE TABLE extractions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- extraction of facts
    conversation_id INTEGER NOT NULL REFERENCES conversations (id), -- its conversation
    after_message INTEGER NOT NULL,            -- message after which it begins
    upto_message INTEGER NOT NULL,             -- last message that it reads
    cause TEXT NOT NULL,                       -- turns, pressure, compaction, boundary
    state TEXT NOT NULL,                       -- wanted, asked (the answer is stored), kept, nothing, given_up
    attempts INTEGER NOT NULL DEFAULT 0,       -- failed tries
    retry_at INTEGER NOT NULL,                 -- next try, not before
    facts TEXT NOT NULL DEFAULT '[]',          -- JSON: facts of the answer, stored before any is written to a file
    corrections TEXT NOT NULL DEFAULT '[]',    -- JSON: corrections by the person
    model TEXT NOT NULL DEFAULT '',            -- model that answered; rules if none did
    label TEXT NOT NULL,                       -- where it came from
    scope TEXT NOT NULL,                       -- whose it is
    wanted_at INTEGER NOT NULL,                -- requested
    ended_at INTEGER,                          -- kept, or given up
    UNIQUE (conversation_id, upto_message)
) STRICT;
CREATE INDEX extractions_due ON extractions (retry_at) WHERE state IN ('wanted', 'asked');

-- Files of the workspace, and their index

-- Versions of files, also of those that a person wrote by hand.
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- version
    path TEXT NOT NULL,                     -- path, relative to the workspace
    digest TEXT NOT NULL,                   -- SHA-256 of its content; blank for a deleted file
    label TEXT NOT NULL,                    -- where the content came from
    scope TEXT NOT NULL,                    -- whose it is
    written_at INTEGER NOT NULL,            -- committed, before the file is renamed into its place
    author TEXT NOT NULL DEFAULT 'program', -- program, assistant, person (by a command), hand (found changed), found (after a restore)
    cause TEXT NOT NULL DEFAULT '',         -- act that changed it: first, received, remember, save, section, file, edit, facts, learned, hand, promote, forget, restore, …
    replaces TEXT                           -- until it is in its place: SHA-256 of what it replaces, blank for nothing; then null
) STRICT;
CREATE INDEX files_path ON files (path, id);
CREATE INDEX files_unplaced ON files (id) WHERE replaces IS NOT NULL;

CREATE TABLE file_contents (
    file_id INTEGER NOT NULL PRIMARY KEY REFERENCES files (id), -- version
    content BLOB NOT NULL                      -- its bytes; the row is deleted by an erasure, or once too many versions are newer
) STRICT;

-- Notes of tainted turns that wait for a yes of their person.
CREATE TABLE keeps (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- request
    turn_id INTEGER NOT NULL REFERENCES turns (id), -- turn that wrote the note
    person_id INTEGER NOT NULL REFERENCES people (id), -- person who is asked
    path TEXT NOT NULL,                        -- its path, as its owner sees it: memory/untrusted/…
    digest TEXT NOT NULL,                      -- SHA-256 of its content; a yes is for that alone
    shown TEXT NOT NULL,                       -- text as shown with the question
    label TEXT NOT NULL,                       -- where it came from
    scope TEXT NOT NULL,                       -- whose it is
    state TEXT NOT NULL,                       -- new, open (asked), yes (about to be done), kept, no, expired, changed (differs from what was shown)
    number INTEGER UNIQUE,                     -- number of the question, from the counter of the questions; null until it is asked
    address_id INTEGER REFERENCES addresses (id), -- address where it is asked, then where it was answered; null until it is asked
    wanted_at INTEGER NOT NULL,                -- note written
    expires_at INTEGER,                        -- counts as a no from then on; null until it is asked
    decided_at INTEGER,                        -- answered, or expired
    instead_of TEXT NOT NULL DEFAULT '',       -- text that a yes replaces, or its name if it is long
    replaces TEXT NOT NULL DEFAULT '',         -- SHA-256 of that text
    UNIQUE (turn_id, path, digest)
) STRICT;
CREATE INDEX keeps_person ON keeps (person_id) WHERE state = 'open';
CREATE INDEX keeps_to_do ON keeps (id) WHERE state = 'yes';

-- Derived: files and journal items that are in the index.
CREATE TABLE indexed (
    path TEXT NOT NULL PRIMARY KEY,   -- path, relative to the workspace, or //experience/…; conversations/N, reflections/N
    scope TEXT NOT NULL,              -- whose it is
    stamp TEXT NOT NULL,              -- changes with the file; blank to have it read again
    digest TEXT NOT NULL,             -- SHA-256 of its bytes
    label TEXT NOT NULL,              -- where they came from
    trouble TEXT NOT NULL DEFAULT '', -- why it cannot be searched in full, in the program's words
    size INTEGER NOT NULL,            -- bytes
    at INTEGER NOT NULL               -- written
) STRICT, WITHOUT ROWID;
CREATE INDEX indexed_path ON indexed (path);

-- Derived: one fact, note or passage each.
CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- entry; another one after the index was rebuilt
    key TEXT NOT NULL UNIQUE,                  -- stable key: SHA-256 of scope, path, section and name
    path TEXT NOT NULL REFERENCES indexed (path), -- its file or journal item
    section TEXT NOT NULL,                     -- its heading; blank above the first
    line INTEGER NOT NULL,                     -- its line in the file, from 1
    name TEXT NOT NULL,                        -- key of a fact, title of a note; blank for running text
    kind TEXT NOT NULL,                        -- fact, note, day, text, file, conversation, reflection
    category TEXT NOT NULL DEFAULT '',         -- preference, decision, fact, context, or the category that a note states
    text TEXT NOT NULL,                        -- its words
    digest TEXT NOT NULL,                      -- SHA-256 of the words, the key of their embedding
    label TEXT NOT NULL,                       -- where they came from
    scope TEXT NOT NULL,                       -- whose they are
    at INTEGER NOT NULL                        -- written
) STRICT;
CREATE INDEX entries_path ON entries (path);
CREATE INDEX entries_digest ON entries (digest);
CREATE INDEX entries_scope ON entries (scope, at);

-- Derived: index of the entries. Words begin as in texts_fts. `place` has one word for the kind, and one each for category,
-- section and agent, so that the index itself applies every limit of a query. It stores its words: an index without them counts
-- deleted rows when it ranks, and would answer differently once rebuilt.
CREATE VIRTUAL TABLE entries_fts USING fts5 (
    name, body, place, detail = 'full', tokenize = 'porter unicode61 remove_diacritics 2'
);

-- Derived: journal items that have changed since they were indexed. The triggers below write it.
CREATE TABLE unindexed (
    path TEXT NOT NULL PRIMARY KEY, -- conversations/N, reflections/N
    scope TEXT NOT NULL             -- whose it is
) STRICT, WITHOUT ROWID;

-- Use of the entries. It outlives every rebuilding of the index.
CREATE TABLE entry_uses (
    key TEXT NOT NULL PRIMARY KEY, -- stable key of the entry
    uses INTEGER NOT NULL,         -- how often a trusted turn was given it
    last_at INTEGER NOT NULL       -- last time
) STRICT, WITHOUT ROWID;
CREATE INDEX entry_uses_last ON entry_uses (last_at);

-- Derived, but paid for: kept by content.
CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- embedding; higher than all before, so that a cache finds the new ones
    model TEXT NOT NULL,                  -- provider/name/dimensions
    digest TEXT NOT NULL,                 -- SHA-256 of the words
    vector BLOB NOT NULL,                 -- 32-bit floats, little-endian, of length one; empty if the model refuses the words
    UNIQUE (model, digest)
) STRICT;
CREATE INDEX embeddings_digest ON embeddings (digest);

-- Skills and tools

CREATE TABLE skills (
    name TEXT PRIMARY KEY,                     -- its folder
    state TEXT NOT NULL,                       -- live, held (waits for the owner), broken, gone
    digest TEXT NOT NULL,                      -- SHA-256 of its files as last seen; blank when gone
    title TEXT NOT NULL,                       -- name in its front matter
    description TEXT NOT NULL,                 -- description in its front matter
    origin TEXT NOT NULL,                      -- author of the present version: shipped, person, proposal, rollback
    shipped TEXT NOT NULL DEFAULT '',          -- of a built-in: digest of the newest version that was installed or offered
    installed TEXT NOT NULL DEFAULT '',        -- of a built-in: digest of the version that the program installed last
    label TEXT NOT NULL,                       -- where the present version came from
    scope TEXT NOT NULL,                       -- shared
    changed_at INTEGER NOT NULL,               -- change seen
    version_id INTEGER REFERENCES skill_versions (id) -- version in use, also while other content of the folder is held
) STRICT, WITHOUT ROWID;

CREATE TABLE skill_versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- version
    skill TEXT NOT NULL,                       -- name of the skill
    digest TEXT NOT NULL,                      -- SHA-256 of its files
    origin TEXT NOT NULL,                      -- shipped, person, proposal, rollback
    proposal_id INTEGER REFERENCES proposals (id), -- proposal that it was
    accepted INTEGER NOT NULL,                 -- 1 if it may be used
    label TEXT NOT NULL,                       -- where its words came from, after the decision
    scope TEXT NOT NULL,                       -- shared
    made_at INTEGER NOT NULL,                  -- seen, or written
    hosts TEXT NOT NULL DEFAULT ''             -- of a third party's skill: hosts shown when it was accepted, separated by spaces
) STRICT;
CREATE INDEX skill_versions_skill ON skill_versions (skill, id);

CREATE TABLE skill_files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- file of a version or of a proposal
    version_id INTEGER REFERENCES skill_versions (id), -- its version; null for a proposal
    proposal_id INTEGER REFERENCES proposals (id), -- its proposal; null for a version
    path TEXT NOT NULL,                        -- path, relative to the folder of the skill
    bytes BLOB NOT NULL,                       -- content
    label TEXT NOT NULL,                       -- where it came from
    scope TEXT NOT NULL                        -- whose it is
) STRICT;
CREATE INDEX skill_files_version ON skill_files (version_id) WHERE version_id IS NOT NULL;
CREATE INDEX skill_files_proposal ON skill_files (proposal_id) WHERE proposal_id IS NOT NULL;

-- Proposed changes. Only their state changes.
CREATE TABLE proposals (
    id INTEGER PRIMARY KEY AUTOINCREMENT,     -- proposal
    skill TEXT NOT NULL,                      -- name of the skill
    change TEXT NOT NULL,                     -- create, edit, delete, rename
    new_name TEXT NOT NULL DEFAULT '',        -- of a rename: new name
    base TEXT NOT NULL,                       -- digest of the content that it changes; blank if there is none
    content TEXT NOT NULL,                    -- digest of the new content; blank for a delete
    nonce TEXT NOT NULL,                      -- random, so that no model can know the digest
    digest TEXT NOT NULL,                     -- SHA-256 of all that the owner decides about, and the nonce
    rationale TEXT NOT NULL,                  -- reason, in the words of the proposer
    origin TEXT NOT NULL,                     -- turn, reflection, note, import, folder (is there already and is held), shipped
    turn_id INTEGER REFERENCES turns (id),    -- turn that proposed it
    person_id INTEGER REFERENCES people (id), -- person of that turn
    standing TEXT NOT NULL,                   -- clean, careful (waits for the owner although clean), tainted
    label TEXT NOT NULL,                      -- where its words came from
    scope TEXT NOT NULL,                      -- scope of that turn; shared if there is none
    state TEXT NOT NULL,                      -- pending, approved, rejected, expired, conflict
    reviewed INTEGER NOT NULL DEFAULT 0,      -- 1 if the reviewer was asked and the policy applied
    told INTEGER NOT NULL DEFAULT 0,          -- 1 if the owner was told that it waits
    created_at INTEGER NOT NULL,              -- created
    expires_at INTEGER NOT NULL,              -- cannot be approved from then on
    decided_at INTEGER,                       -- decided
    reason TEXT NOT NULL DEFAULT ''           -- reason of a rejection, in the words of the owner or of the program
) STRICT;
CREATE INDEX proposals_pending ON proposals (id) WHERE state = 'pending';
CREATE INDEX proposals_skill ON proposals (skill, content);

CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- verdict of one stage of the review
    proposal_id INTEGER NOT NULL REFERENCES proposals (id), -- proposal
    stage TEXT NOT NULL,                       -- taint, hash, structure, scan, effects, reviewer, person
    outcome TEXT NOT NULL,                     -- passed, waits (for the owner), none (no verdict), skipped, refused
    note TEXT NOT NULL,                        -- reason, in a sentence
    findings TEXT NOT NULL DEFAULT '[]',       -- JSON list of findings
    label TEXT NOT NULL,                       -- where the note came from
    scope TEXT NOT NULL,                       -- whose it is
    at INTEGER NOT NULL                        -- given
) STRICT;
CREATE INDEX verdicts_proposal ON verdicts (proposal_id, id);

-- Attempts to decide about a proposal or a roll-back, with effect or without.
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- attempt
    proposal_id INTEGER REFERENCES proposals (id), -- proposal; null for a roll-back
    skill TEXT NOT NULL,                       -- name of the skill
    act TEXT NOT NULL,                         -- approve, reject, expire, rollback
    outcome TEXT NOT NULL,                     -- done, or why it had no effect
    decider TEXT NOT NULL,                     -- owner, reviewer, program
    person_id INTEGER REFERENCES people (id),  -- person who decided
    way TEXT NOT NULL,                         -- chat, command line; blank for the program
    at INTEGER NOT NULL                        -- decided
) STRICT;
CREATE INDEX decisions_proposal ON decisions (proposal_id, id);

-- Changes of the folder of skills. A row is written before the change begins.
CREATE TABLE skill_changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- change
    proposal_id INTEGER REFERENCES proposals (id), -- proposal; null if none was needed
    skill TEXT NOT NULL,                       -- name of the skill
    base TEXT NOT NULL,                        -- digest of the content that must be there; blank for none
    version_id INTEGER REFERENCES skill_versions (id), -- version that is put there; null to delete the folder
    follows_id INTEGER REFERENCES skill_changes (id), -- change that must be made before: the first half of a rename
    state TEXT NOT NULL,                       -- intended, done, conflict
    begun_at INTEGER NOT NULL,                 -- intended
    ended_at INTEGER                           -- ended
) STRICT;
CREATE INDEX skill_changes_open ON skill_changes (id) WHERE state = 'intended';
CREATE INDEX skill_changes_version ON skill_changes (version_id);

-- Tools of MCP servers.
CREATE TABLE outside_tools (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- tool
    server TEXT NOT NULL,                      -- configured name of the server
    name TEXT NOT NULL,                        -- name of the tool there
    description TEXT NOT NULL,                 -- description, from the server
    schema TEXT NOT NULL,                      -- JSON schema of its arguments, from the server
    digest TEXT NOT NULL,                      -- SHA-256 of name, description and schema
    label TEXT NOT NULL,                       -- where these came from
    scope TEXT NOT NULL,                       -- shared
    seen_at INTEGER NOT NULL,                  -- last listed by the server
    accepted_digest TEXT NOT NULL DEFAULT '',  -- digest that the owner accepted; the tool is offered only while both are equal
    accepted_at INTEGER,                       -- accepted
    accepted_by INTEGER REFERENCES people (id), -- person who accepted it; null for the command line
    UNIQUE (server, name)
) STRICT;

-- Schedule

-- Occurrences of scheduled jobs, each claimed once.
CREATE TABLE slots (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- slot
    job TEXT NOT NULL,                         -- daily, weekly, monthly, heartbeat, upkeep, task:N, reminder:N
    scope TEXT NOT NULL,                       -- for whom; shared for the program itself
    period TEXT NOT NULL,                      -- local period that it covers (2026-11-20, 2026-W47, 2026-11), else the time at which it is due
    run INTEGER NOT NULL DEFAULT 1,            -- 2 and more if an owner requested it again
    from_at INTEGER NOT NULL,                  -- beginning of the period
    to_at INTEGER NOT NULL,                    -- end of the period, not in it
    due_at INTEGER NOT NULL,                   -- due
    state TEXT NOT NULL,                       -- claimed, working, done, quiet (nothing to do), missed (too long ago), failed
    conversation_id INTEGER REFERENCES conversations (id), -- conversation of the work
    tries INTEGER NOT NULL DEFAULT 0,          -- how often a model was asked
    retry_at INTEGER,                          -- next try after an unusable answer
    reason TEXT NOT NULL DEFAULT '',           -- why it is missed or failed, in the program's words
    claimed_at INTEGER NOT NULL,               -- claimed
    ended_at INTEGER,                          -- ended
    UNIQUE (job, scope, period, run)
) STRICT;
CREATE INDEX slots_open ON slots (id) WHERE state IN ('claimed', 'working');
CREATE INDEX slots_window ON slots (scope, job, to_at);

CREATE TABLE reflections (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- reflection
    slot_id INTEGER NOT NULL UNIQUE REFERENCES slots (id), -- its slot
    turn_id INTEGER NOT NULL REFERENCES turns (id), -- turn that wrote it
    message_id INTEGER NOT NULL UNIQUE REFERENCES messages (id), -- message with its text, in Markdown
    title TEXT NOT NULL,                       -- a few words
    label TEXT NOT NULL,                       -- join of the labels of all that was read for it
    scope TEXT NOT NULL,                       -- whose it is
    at INTEGER NOT NULL                        -- stored
) STRICT;

-- Actions that reflections propose.
CREATE TABLE actions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- action
    reflection_id INTEGER NOT NULL REFERENCES reflections (id), -- its reflection
    seq INTEGER NOT NULL,                      -- order within it, from 0
    kind TEXT NOT NULL,                        -- create_skill, change_skill, promote_note, memory, configuration, other
    title TEXT NOT NULL,                       -- one line
    payload TEXT NOT NULL,                     -- JSON: everything else about it
    state TEXT NOT NULL,                       -- new, taken (counts for its day), proposed, kept, suggested, refused, over_limit, malformed
    day TEXT NOT NULL DEFAULT '',              -- day whose limit it counts for
    proposal_id INTEGER REFERENCES proposals (id), -- proposal that it became
    reason TEXT NOT NULL DEFAULT '',           -- why it had no effect, in the program's words
    label TEXT NOT NULL,                       -- where it came from
    scope TEXT NOT NULL,                       -- whose it is
    ended_at INTEGER,                          -- state is final
    UNIQUE (reflection_id, seq)
) STRICT;
CREATE INDEX actions_open ON actions (id) WHERE state IN ('new', 'taken');
CREATE INDEX actions_day ON actions (day) WHERE day <> '';

CREATE TABLE reminders (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- reminder or task
    person_id INTEGER NOT NULL REFERENCES people (id), -- person for whom it is
    kind TEXT NOT NULL,                        -- reminder (sent as it is), task (given to the assistant)
    text TEXT NOT NULL,                        -- its text
    label TEXT NOT NULL,                       -- where the text came from
    scope TEXT NOT NULL,                       -- whose it is
    cron TEXT NOT NULL DEFAULT '',             -- recurrence; blank for once
    next_at INTEGER,                           -- next due; null when it is over
    turn_id INTEGER REFERENCES turns (id),     -- turn that created it
    created_at INTEGER NOT NULL,               -- created
    state TEXT NOT NULL,                       -- waiting, done, cancelled
    ended_at INTEGER,                          -- over
    until_at INTEGER                           -- last time at which a recurring one may be due; null for no end
) STRICT;
CREATE INDEX reminders_waiting ON reminders (next_at) WHERE state = 'waiting';
CREATE INDEX reminders_person ON reminders (person_id, id);

CREATE TABLE heartbeats (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- heartbeat of one owner
    person_id INTEGER NOT NULL UNIQUE REFERENCES people (id), -- owner
    checked_at INTEGER NOT NULL,               -- last check of HEARTBEAT.md
    next_at INTEGER NOT NULL,                  -- next check
    ran_at INTEGER,                            -- last run began; null for never
    inputs TEXT NOT NULL DEFAULT '',           -- digest of file, ticks, memory and day of that run (while it runs, of the file); blank to run at the next check
    quiet INTEGER NOT NULL DEFAULT 0           -- runs without news since the inputs changed
) STRICT;

CREATE TABLE heartbeat_ticks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- ticked item of HEARTBEAT.md
    person_id INTEGER NOT NULL REFERENCES people (id), -- owner of the file
    digest TEXT NOT NULL,                      -- SHA-256 of the words of the item
    turn_id INTEGER REFERENCES turns (id),     -- turn that ticked it; null for a command of the owner
    ticked_at INTEGER NOT NULL,                -- ticked
    UNIQUE (person_id, digest)
) STRICT;

-- Costs

CREATE TABLE spending (
    id INTEGER PRIMARY KEY AUTOINCREMENT,     -- model call
    turn_id INTEGER REFERENCES turns (id),    -- its turn
    person_id INTEGER REFERENCES people (id), -- person for whom it was made
    scope TEXT NOT NULL,                      -- scope whose budget pays
    purpose TEXT NOT NULL,                    -- chat, summary, …
    model TEXT NOT NULL,                      -- provider/name
    day TEXT NOT NULL,                        -- day that it counts for
    at INTEGER NOT NULL,                      -- reserved
    state TEXT NOT NULL,                      -- reserved (counts at its worst case), spent
    priced INTEGER NOT NULL,                  -- 1 if micros counts, 0 if tokens do
    input_tokens INTEGER NOT NULL,            -- all input
    cached_tokens INTEGER NOT NULL DEFAULT 0, -- of it, from the cache of the provider
    output_tokens INTEGER NOT NULL,           -- output
    micros INTEGER NOT NULL,                  -- money in micro-units
    guessed_tokens INTEGER NOT NULL DEFAULT 0 -- estimate of the input before the call
) STRICT;
CREATE INDEX spending_day ON spending (day, scope);
CREATE INDEX spending_at ON spending (scope, at);
CREATE INDEX spending_turn ON spending (turn_id) WHERE turn_id IS NOT NULL;

-- Erasure

-- Erasures. A row is written before anything is deleted, so that a cut-off erasure is resumed; once it is done, the row holds no
-- words either.
CREATE TABLE forgettings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,     -- erasure, by whose number people resume it
    person_id INTEGER REFERENCES people (id), -- person who asked, or who is erased; null for the command line
    kind TEXT NOT NULL,                       -- note, fact, said, person
    target TEXT NOT NULL,                     -- path of the note, key of the fact, folder of the person; blank once done
    needles TEXT NOT NULL,                    -- JSON: words that nothing may hold any more; [] once done
    messages INTEGER NOT NULL DEFAULT 0,      -- 1 if the messages that it came from are deleted as well
    state TEXT NOT NULL,                      -- wanted, left (something outside the request still holds it), done
    counts TEXT NOT NULL DEFAULT '{}',        -- JSON: numbers of what was deleted
    label TEXT NOT NULL,                      -- where the words came from
    scope TEXT NOT NULL,                      -- whose it is
    wanted_at INTEGER NOT NULL,               -- requested
    ended_at INTEGER,                         -- verified, or left
    choice TEXT NOT NULL DEFAULT '{}'         -- JSON: keys of the items that the person excluded and added; {} once done
) STRICT;
CREATE INDEX forgettings_open ON forgettings (id) WHERE state <> 'done';

-- The page

-- One-time codes that sign a browser in.
CREATE TABLE web_codes (
    digest TEXT PRIMARY KEY,                   -- SHA-256 of the code
    person_id INTEGER NOT NULL REFERENCES people (id), -- person whom it signs in
    began_by TEXT NOT NULL,                    -- where it was created: command_line, chat
    expires_at INTEGER NOT NULL                -- void from then on
) STRICT, WITHOUT ROWID;

CREATE TABLE web_sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- session of a browser
    digest TEXT NOT NULL UNIQUE,               -- SHA-256 of the cookie
    person_id INTEGER NOT NULL REFERENCES people (id), -- person who is signed in
    role TEXT NOT NULL,                        -- role at sign-in; the session ends when it changes
    began_by TEXT NOT NULL,                    -- where its code was created
    browser TEXT NOT NULL,                     -- name that the browser gives itself
    began_at INTEGER NOT NULL,                 -- sign-in
    seen_at INTEGER NOT NULL,                  -- last request, to the hour
    expires_at INTEGER NOT NULL,               -- end without further requests
    looked_at INTEGER NOT NULL,                -- time up to which the start page has been read
    theme TEXT NOT NULL DEFAULT 'system',      -- system, light, dark
    shortcuts INTEGER NOT NULL DEFAULT 1       -- 1 if single keys are shortcuts
) STRICT;
CREATE INDEX web_sessions_person ON web_sessions (person_id);

-- Changes of a summary or reflection take its entries out of the index and mark it, in the same transaction.

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
