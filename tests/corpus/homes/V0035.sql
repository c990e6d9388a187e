-- A journal of version 35 as its 35 migrations and the program of that time left it: schema, history and rows.
-- Frozen: a journal of this form must be adopted, and its schema is that of the baseline.

BEGIN;
PRAGMA defer_foreign_keys = ON;

CREATE TABLE refinery_schema_history (version int4 PRIMARY KEY, name VARCHAR(255), applied_on VARCHAR(255), checksum VARCHAR(255));
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
, prefer TEXT NOT NULL DEFAULT '', folder TEXT NOT NULL DEFAULT '', ended TEXT NOT NULL DEFAULT '', namesake_id INTEGER REFERENCES people (id), zone TEXT NOT NULL DEFAULT '', quiet_hours TEXT NOT NULL DEFAULT '22:00-07:00', language TEXT NOT NULL DEFAULT '', channel_language TEXT NOT NULL DEFAULT '', own_language TEXT NOT NULL DEFAULT '', own_zone TEXT NOT NULL DEFAULT '') STRICT;
CREATE UNIQUE INDEX people_name ON people (lower(name)) WHERE removed_at IS NULL;
CREATE TABLE addresses (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- address
    person_id INTEGER REFERENCES people (id), -- whose it is; null for a stranger who was sent a line
    adapter TEXT NOT NULL,                -- telegram, terminal, …
    account TEXT NOT NULL,                -- which of our own accounts there
    peer TEXT NOT NULL,                   -- the other side, as the adapter spells it
    linked_at INTEGER NOT NULL,           -- when it was joined to the person
    last_heard_at INTEGER NOT NULL DEFAULT 0, -- when the person last wrote from here
    wait_until INTEGER NOT NULL DEFAULT 0, alias TEXT NOT NULL DEFAULT '',    -- nothing may be sent here before
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
    guess_day TEXT NOT NULL DEFAULT '', name TEXT NOT NULL DEFAULT '', told INTEGER NOT NULL DEFAULT 0, announced_at INTEGER NOT NULL DEFAULT 0, ignored_at INTEGER NOT NULL DEFAULT 0, is_group INTEGER NOT NULL DEFAULT 0,   -- local day that guesses counts for
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
, asked_at_address INTEGER REFERENCES addresses (id), issuer_id INTEGER REFERENCES people (id), person_id INTEGER REFERENCES people (id)) STRICT;
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
    raw TEXT NOT NULL, message_id INTEGER REFERENCES messages (id),                    -- the original; blank for strangers, and for all after seven days
    UNIQUE (adapter, account, external_id)
) STRICT;
CREATE INDEX inbox_raw ON inbox (received_at) WHERE raw <> '';
CREATE TABLE streams (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- stream
    person_id INTEGER UNIQUE REFERENCES people (id), -- the person whose one stream it is
    scope TEXT NOT NULL,                  -- whose text it holds
    break_at INTEGER                      -- the next message begins a new conversation because of /new, given then
, work_of INTEGER REFERENCES people (id), address_id INTEGER REFERENCES addresses (id)) STRICT;
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
, forgotten_at INTEGER, revision INTEGER NOT NULL DEFAULT 0, extracted_upto INTEGER NOT NULL DEFAULT 0, compacted_upto INTEGER NOT NULL DEFAULT 0, opening_label TEXT NOT NULL DEFAULT '', import_id INTEGER REFERENCES imports (id), label TEXT NOT NULL DEFAULT '') STRICT;
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
, guest INTEGER NOT NULL DEFAULT 0, also TEXT NOT NULL DEFAULT '', expires_after INTEGER, gone_at INTEGER, tries INTEGER NOT NULL DEFAULT 0, cause TEXT, cause_id INTEGER, shown_to INTEGER REFERENCES turns (id)) STRICT;
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
, shown_to INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX texts_message ON texts (message_id, id);
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
, text_path TEXT NOT NULL DEFAULT '', is_part INTEGER NOT NULL DEFAULT 0) STRICT;
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
, reacted TEXT NOT NULL DEFAULT '', recalled TEXT NOT NULL DEFAULT '', counted INTEGER NOT NULL DEFAULT 0, lives INTEGER NOT NULL DEFAULT 0) STRICT;
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
    ended_at INTEGER, failed INTEGER NOT NULL DEFAULT 0, made INTEGER NOT NULL DEFAULT 1, grant_id INTEGER REFERENCES grants (id), version_id INTEGER REFERENCES skill_versions (id),                     -- stored
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
, quotes TEXT NOT NULL DEFAULT '', failed_at INTEGER NOT NULL DEFAULT 0, set_aside INTEGER NOT NULL DEFAULT 0, tells_of INTEGER NOT NULL DEFAULT 0, urgency TEXT NOT NULL DEFAULT 'asked', repeated INTEGER NOT NULL DEFAULT 0, decision TEXT NOT NULL DEFAULT '', decided_at INTEGER NOT NULL DEFAULT 0, replacements_left INTEGER NOT NULL DEFAULT 0) STRICT;
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
    external_id TEXT NOT NULL DEFAULT '', file TEXT NOT NULL DEFAULT '', digest TEXT NOT NULL DEFAULT '', -- its id with the adapter
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
, guessed_tokens INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX spending_day ON spending (day, scope);
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- version of a file that we wrote
    path TEXT NOT NULL,                   -- relative to the workspace
    digest TEXT NOT NULL,                 -- SHA-256 of its content
    label TEXT NOT NULL,                  -- where the content came from
    scope TEXT NOT NULL,                  -- whose it is
    written_at INTEGER NOT NULL           -- committed before the file is renamed into place
, author TEXT NOT NULL DEFAULT 'program', cause TEXT NOT NULL DEFAULT '', replaces TEXT) STRICT;
CREATE INDEX files_path ON files (path, id);
CREATE TABLE derived_from (
    child TEXT NOT NULL,  -- what grew: turn:N, summary:N, file:N
    parent TEXT NOT NULL, -- from what: message:N, turn:N, summary:N, file:N, attachment:N
    PRIMARY KEY (child, parent)
) STRICT, WITHOUT ROWID;
CREATE INDEX derived_from_parent ON derived_from (parent);
CREATE TABLE skills (
    name TEXT PRIMARY KEY,                -- its folder
    state TEXT NOT NULL,                  -- live, held (a finding waits for the owner), gone (was here and is not)
    digest TEXT NOT NULL,                 -- SHA-256 over its files as they were last seen; blank when gone
    title TEXT NOT NULL,                  -- the name in its front matter
    description TEXT NOT NULL,            -- what it says of itself
    origin TEXT NOT NULL,                 -- who wrote the present version: shipped, person, proposal, rollback
    shipped TEXT NOT NULL DEFAULT '',     -- for a built-in: digest of the newest version that was installed or offered
    installed TEXT NOT NULL DEFAULT '',   -- for a built-in: digest of the version that we last put there ourselves
    label TEXT NOT NULL,                  -- where the present version came from
    scope TEXT NOT NULL,                  -- whose it is: everybody's
    changed_at INTEGER NOT NULL           -- seen to be so
, version_id INTEGER REFERENCES skill_versions (id)) STRICT, WITHOUT ROWID;
CREATE TABLE skill_versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- version
    skill TEXT NOT NULL,                  -- of which skill
    digest TEXT NOT NULL,                 -- SHA-256 over its files
    origin TEXT NOT NULL,                 -- shipped, person, proposal, rollback
    proposal_id INTEGER REFERENCES proposals (id), -- the proposal that it was, if it was one
    accepted INTEGER NOT NULL,            -- whether it may be used: 0 while a finding waits for the owner, or was refused
    label TEXT NOT NULL,                  -- where its words came from, after the decision
    scope TEXT NOT NULL,                  -- whose it is: everybody's
    made_at INTEGER NOT NULL              -- seen, or written
, hosts TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX skill_versions_skill ON skill_versions (skill, id);
CREATE TABLE skill_files (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- one file of a version or of a proposal
    version_id INTEGER REFERENCES skill_versions (id), -- of which version; else null
    proposal_id INTEGER REFERENCES proposals (id), -- of which proposal; else null
    path TEXT NOT NULL,                   -- relative to the skill's folder
    bytes BLOB NOT NULL,                  -- its content
    label TEXT NOT NULL,                  -- where it came from
    scope TEXT NOT NULL                   -- whose it is
) STRICT;
CREATE INDEX skill_files_version ON skill_files (version_id) WHERE version_id IS NOT NULL;
CREATE INDEX skill_files_proposal ON skill_files (proposal_id) WHERE proposal_id IS NOT NULL;
CREATE TABLE proposals (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- proposal; nothing of it ever changes but its state
    skill TEXT NOT NULL,                  -- the skill it would change
    change TEXT NOT NULL,                 -- create, edit, delete, rename
    new_name TEXT NOT NULL DEFAULT '',    -- for a rename
    base TEXT NOT NULL,                   -- digest of the content it was made from; blank when there was none
    content TEXT NOT NULL,                -- digest of the content it would have; blank for a delete
    nonce TEXT NOT NULL,                  -- random, so that no model can know the digest
    digest TEXT NOT NULL,                 -- SHA-256 over all that the owner decides about, and the nonce
    rationale TEXT NOT NULL,              -- why, in the words of whoever proposed it
    origin TEXT NOT NULL,                 -- turn, note, import, folder (lies there already and is held), shipped, reflection
    turn_id INTEGER REFERENCES turns (id), -- the turn that proposed it
    person_id INTEGER REFERENCES people (id), -- whose turn that was
    standing TEXT NOT NULL,               -- clean, careful (waits for the owner although clean), tainted
    label TEXT NOT NULL,                  -- where its words came from
    scope TEXT NOT NULL,                  -- whose turn it grew in; everybody's for what came otherwise
    state TEXT NOT NULL,                  -- pending, approved, rejected, expired, conflict
    reviewed INTEGER NOT NULL DEFAULT 0,  -- whether the reviewer was asked, and policy applied
    told INTEGER NOT NULL DEFAULT 0,      -- whether the owner was told that it waits
    created_at INTEGER NOT NULL,          -- staged
    expires_at INTEGER NOT NULL,          -- cannot be approved from then on
    decided_at INTEGER,                   -- when the state changed
    reason TEXT NOT NULL DEFAULT ''       -- why it was rejected, in the owner's words or ours
) STRICT;
CREATE INDEX proposals_pending ON proposals (id) WHERE state = 'pending';
CREATE INDEX proposals_skill ON proposals (skill, content);
CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- what one stage said of a proposal
    proposal_id INTEGER NOT NULL REFERENCES proposals (id), -- of which
    stage TEXT NOT NULL,                  -- taint, hash, structure, scan, reviewer, person
    outcome TEXT NOT NULL,                -- passed, waits (for the owner), none (no verdict), refused
    note TEXT NOT NULL,                   -- why, in a sentence
    findings TEXT NOT NULL DEFAULT '[]',  -- JSON list of what the scan found
    label TEXT NOT NULL,                  -- where the note came from
    scope TEXT NOT NULL,                  -- whose it is
    at INTEGER NOT NULL                   -- when
) STRICT;
CREATE INDEX verdicts_proposal ON verdicts (proposal_id, id);
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- one attempt to decide, whether it counted or not
    proposal_id INTEGER REFERENCES proposals (id), -- about which; null for a roll-back
    skill TEXT NOT NULL,                  -- about which skill
    act TEXT NOT NULL,                    -- approve, reject, expire, rollback
    outcome TEXT NOT NULL,                -- done, or why it did not count
    decider TEXT NOT NULL,                -- owner, reviewer, program
    person_id INTEGER REFERENCES people (id), -- who, if it was a person
    way TEXT NOT NULL,                    -- chat, command line; blank for the program
    at INTEGER NOT NULL                   -- when
) STRICT;
CREATE INDEX decisions_proposal ON decisions (proposal_id, id);
CREATE TABLE skill_changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- one change of the folder: written before it is begun
    proposal_id INTEGER REFERENCES proposals (id), -- why; null when it needed no proposal
    skill TEXT NOT NULL,                  -- whose folder
    base TEXT NOT NULL,                   -- digest of what must lie there; blank when nothing may
    version_id INTEGER REFERENCES skill_versions (id), -- what shall lie there; null when nothing shall
    follows_id INTEGER REFERENCES skill_changes (id), -- to be made only after that one: the second half of a rename
    state TEXT NOT NULL,                  -- intended, done, conflict
    begun_at INTEGER NOT NULL,            -- intended
    ended_at INTEGER                      -- over
) STRICT;
CREATE INDEX skill_changes_open ON skill_changes (id) WHERE state = 'intended';
CREATE INDEX skill_changes_version ON skill_changes (version_id);
CREATE TABLE questions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- question put to a person before something is sent out
    stream_id INTEGER NOT NULL REFERENCES streams (id), -- in which stream
    conversation_id INTEGER NOT NULL REFERENCES conversations (id), -- in which conversation
    turn_id INTEGER NOT NULL REFERENCES turns (id), -- the turn that ended with it
    step_id INTEGER NOT NULL REFERENCES steps (id), -- the call that was not made
    person_id INTEGER NOT NULL REFERENCES people (id), -- who may answer
    address_id INTEGER NOT NULL REFERENCES addresses (id), -- where it was put
    call TEXT NOT NULL,                   -- the call as JSON
    covers TEXT NOT NULL,                 -- what a yes allows: host:example.org, or call
    digest TEXT NOT NULL,                 -- SHA-256 over the tool's name and the arguments
    state TEXT NOT NULL,                  -- open, yes, refused, expired
    asked_at INTEGER NOT NULL,            -- put
    expires_at INTEGER NOT NULL,          -- means no from then on
    decided_at INTEGER,                   -- answered, or over
    continued_by INTEGER REFERENCES turns (id), -- the turn that a yes began
    label TEXT NOT NULL,                  -- where the call's words came from
    scope TEXT NOT NULL                   -- whose it is
) STRICT;
CREATE INDEX questions_open ON questions (stream_id) WHERE state = 'open';
CREATE INDEX questions_continued ON questions (continued_by) WHERE continued_by IS NOT NULL;
CREATE TABLE fingerprints (
    hash INTEGER NOT NULL,                -- hash of fifty characters
    node TEXT NOT NULL,                   -- where they stand: text:N, step:N, file:N (of a proposal)
    PRIMARY KEY (hash, node)
) STRICT, WITHOUT ROWID;
CREATE TABLE outside_tools (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- tool of an MCP server
    server TEXT NOT NULL,                 -- the server's configured name
    name TEXT NOT NULL,                   -- the tool's name there
    description TEXT NOT NULL,            -- what the server says of it
    schema TEXT NOT NULL,                 -- JSON schema of its arguments, as the server gave it
    digest TEXT NOT NULL,                 -- SHA-256 over name, description and schema
    label TEXT NOT NULL,                  -- where that came from
    scope TEXT NOT NULL,                  -- whose it is: everybody's
    seen_at INTEGER NOT NULL,             -- last listed by the server
    accepted_digest TEXT NOT NULL DEFAULT '', -- what the owner accepted; only while it equals digest the tool is offered
    accepted_at INTEGER,                  -- when
    accepted_by INTEGER REFERENCES people (id), -- by whom; null on the command line
    UNIQUE (server, name)
) STRICT;
CREATE UNIQUE INDEX streams_work ON streams (work_of) WHERE work_of IS NOT NULL;
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
, until_at INTEGER) STRICT;
CREATE INDEX reminders_waiting ON reminders (next_at) WHERE state = 'waiting';
CREATE INDEX reminders_person ON reminders (person_id, id);
CREATE INDEX conversations_remembered ON conversations (last_at) WHERE forgotten_at IS NULL;
CREATE INDEX messages_edited ON messages (edited_at) WHERE edited_at IS NOT NULL;
CREATE INDEX messages_apart ON messages (received_at) WHERE conversation_id IS NULL;
CREATE INDEX outbox_words ON outbox (created_at) WHERE text <> '';
CREATE INDEX attachments_here ON attachments (id) WHERE state = 'here';
CREATE INDEX inbox_loose ON inbox (received_at) WHERE fate IN ('stranger', 'nothing', 'unreadable');
CREATE UNIQUE INDEX streams_address ON streams (address_id) WHERE address_id IS NOT NULL;
CREATE INDEX messages_also ON messages (address_id, also) WHERE also <> '';
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
CREATE INDEX inbox_message ON inbox (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX messages_timed ON messages (id) WHERE expires_after IS NOT NULL AND gone_at IS NULL;
CREATE INDEX attachments_gone ON attachments (id) WHERE state = 'gone' AND path <> '';
CREATE INDEX parts_file ON parts (file) WHERE file <> '';
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
CREATE INDEX files_unplaced ON files (id) WHERE replaces IS NOT NULL;
CREATE TABLE file_contents (
    file_id INTEGER NOT NULL PRIMARY KEY REFERENCES files (id), -- the version
    content BLOB NOT NULL                 -- what it held; the row goes when it is forgotten, or when too many newer ones came
) STRICT;
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
CREATE TABLE unindexed (
    path TEXT NOT NULL PRIMARY KEY,       -- conversations/N, reflections/N
    scope TEXT NOT NULL                   -- whose it is
) STRICT, WITHOUT ROWID;
CREATE TABLE entry_uses (
    key TEXT NOT NULL PRIMARY KEY,        -- the entry's stable key
    uses INTEGER NOT NULL,                -- how often a trusted turn was given it
    last_at INTEGER NOT NULL              -- when the last time
) STRICT, WITHOUT ROWID;
CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- grows, so that whoever keeps vectors in memory finds the new ones
    model TEXT NOT NULL,                  -- provider/name/dimensions
    digest TEXT NOT NULL,                 -- SHA-256 of the words
    vector BLOB NOT NULL,                 -- 32-bit floats, little-endian, of length one; empty if no model takes the words
    UNIQUE (model, digest)
) STRICT;
CREATE INDEX embeddings_digest ON embeddings (digest);
CREATE TABLE text_digests (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- grows, as above
    text_id INTEGER NOT NULL UNIQUE REFERENCES texts (id), -- the text
    digest TEXT NOT NULL                  -- SHA-256 of its words
) STRICT;
CREATE INDEX text_digests_digest ON text_digests (digest);
CREATE VIRTUAL TABLE texts_fts USING fts5 (
    body, day,
    content = '', contentless_delete = 1, detail = 'full', tokenize = 'porter unicode61 remove_diacritics 2'
);
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
    decided_at INTEGER, instead_of TEXT NOT NULL DEFAULT '', replaces TEXT NOT NULL DEFAULT '',                   -- answered, or over
    UNIQUE (turn_id, path, digest)
) STRICT;
CREATE INDEX keeps_person ON keeps (person_id) WHERE state = 'open';
CREATE INDEX keeps_to_do ON keeps (id) WHERE state = 'yes';
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
, choice TEXT NOT NULL DEFAULT '{}') STRICT;
CREATE INDEX forgettings_open ON forgettings (id) WHERE state <> 'done';
CREATE VIRTUAL TABLE entries_fts USING fts5 (
    name, body, place, detail = 'full', tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE INDEX entries_scope ON entries (scope, at);
CREATE INDEX entry_uses_last ON entry_uses (last_at);
CREATE INDEX conversations_last ON conversations (last_at) WHERE kind = 'chat';
CREATE INDEX conversations_to_write_down ON conversations (id) WHERE written_down = 0;
CREATE TABLE workspace (
    id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id = 1), -- always 1: there is one root
    owner_id INTEGER NOT NULL REFERENCES people (id) -- the person whose files lie in the root, let in or not; only a hand-over changes it
) STRICT;
CREATE UNIQUE INDEX people_folder ON people (folder) WHERE folder <> '';
CREATE TABLE folder_moves (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- move; they are carried out in order
    kind TEXT NOT NULL,                   -- rename (a person's folder gets its name), hand_over (the root changes hands)
    state TEXT NOT NULL,                  -- wanted, begun (source and target are known), cleared (the root is empty)
    person_id INTEGER NOT NULL REFERENCES people (id), -- whose folder it is; of a hand-over who had the root
    heir_id INTEGER REFERENCES people (id), -- who gets the root; null for rename
    source TEXT NOT NULL DEFAULT '',      -- rename: the old folder; hand_over: the folder of the heir
    target TEXT NOT NULL DEFAULT ''       -- rename: the new folder; hand_over: the folder of who had the root
) STRICT;
CREATE TABLE declared_addresses (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- declared address
    person_id INTEGER NOT NULL REFERENCES people (id), -- whom the configuration gave it to last; kept when they are removed
    adapter TEXT NOT NULL,                -- telegram, signal
    peer TEXT NOT NULL,                   -- as the configuration spells it: an id, a number, an account identifier
    UNIQUE (adapter, peer)
) STRICT;
CREATE INDEX declared_addresses_person ON declared_addresses (person_id);
CREATE INDEX outbox_set_aside ON outbox (id) WHERE set_aside > 0;
CREATE INDEX outbox_sent ON outbox (ended_at) WHERE state = 'sent';
CREATE INDEX messages_sent ON messages (stream_id, id) WHERE kind = 'sent' AND shown_to IS NULL;
CREATE INDEX messages_shown ON messages (shown_to) WHERE shown_to IS NOT NULL;
CREATE INDEX texts_shown ON texts (shown_to) WHERE shown_to <> 0;
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
CREATE INDEX messages_cause ON messages (stream_id, cause, id) WHERE kind = 'sent';
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
CREATE INDEX outbox_buttons ON outbox (id) WHERE buttons <> '[]';
CREATE INDEX outbox_decided ON outbox (address_id) WHERE replacements_left > 0;
CREATE INDEX strangers_told ON strangers (told_day);
CREATE INDEX strangers_announced ON strangers (announced_at) WHERE announced_at > 0;
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
CREATE INDEX conversations_import ON conversations (import_id, id) WHERE import_id IS NOT NULL;
CREATE INDEX messages_imported ON messages (stream_id, external_id) WHERE kind = 'imported';
CREATE INDEX conversations_unlabelled ON conversations (id) WHERE label = '';
CREATE INDEX conversations_kind ON conversations (kind, id);
CREATE INDEX conversations_stream_kind ON conversations (stream_id, kind, id);
CREATE TABLE web_codes (
    digest     TEXT PRIMARY KEY,                        -- SHA-256 of the code
    person_id  INTEGER NOT NULL REFERENCES people (id), -- person whom it signs in
    began_by   TEXT NOT NULL,                           -- where it was made: command_line or chat
    expires_at INTEGER NOT NULL                         -- end of its validity
) STRICT, WITHOUT ROWID;
CREATE TABLE web_sessions (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,       -- row id
    digest     TEXT NOT NULL UNIQUE,                    -- SHA-256 of the cookie
    person_id  INTEGER NOT NULL REFERENCES people (id), -- person who is signed in
    role       TEXT NOT NULL,                           -- role at sign-in; the session ends when it changes
    began_by   TEXT NOT NULL,                           -- where its code was made
    browser    TEXT NOT NULL,                           -- the browser's own words for itself
    began_at   INTEGER NOT NULL,                        -- sign-in
    seen_at    INTEGER NOT NULL,                        -- last request, to the hour
    expires_at INTEGER NOT NULL,                        -- end without further requests
    looked_at  INTEGER NOT NULL,                        -- time up to which the start page has been read
    theme      TEXT NOT NULL DEFAULT 'system',          -- system, light or dark
    shortcuts  INTEGER NOT NULL DEFAULT 1               -- whether single keys are shortcuts
) STRICT;
CREATE INDEX web_sessions_person ON web_sessions (person_id);
CREATE INDEX messages_stream ON messages (stream_id, id);
CREATE INDEX conversations_opened ON conversations (stream_id, kind, opened_at, messages);
CREATE INDEX spending_turn ON spending (turn_id) WHERE turn_id IS NOT NULL;
CREATE TABLE health_changes (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,            -- row id
    part  TEXT NOT NULL,                                -- program, model, or the name of a channel
    state TEXT NOT NULL,                                -- state from then on: well, ill or off
    at    INTEGER NOT NULL                              -- time of the change
) STRICT;
CREATE INDEX health_changes_part ON health_changes (part, at);
CREATE INDEX outbox_answers ON outbox (address_id, id) WHERE message_id IS NULL;
CREATE INDEX reactions_untold ON reactions (message_id) WHERE emoji <> told;
CREATE INDEX indexed_path ON indexed (path);

INSERT INTO refinery_schema_history (version, name, applied_on, checksum) VALUES
    (1, 'foundation', '2025-10-09T08:53:20Z', '16930052137208694324'),
    (2, 'skills', '2025-10-10T08:53:20Z', '692337258273181736'),
    (3, 'time', '2025-10-11T08:53:20Z', '16312153703350340067'),
    (4, 'upkeep', '2025-10-12T08:53:20Z', '4882266626625246837'),
    (5, 'signal', '2025-10-13T08:53:20Z', '12052894297388616932'),
    (6, 'knowledge', '2025-10-14T08:53:20Z', '8362907694691701801'),
    (7, 'places', '2025-10-15T08:53:20Z', '1167870737234180349'),
    (8, 'lives', '2025-10-16T08:53:20Z', '7799440433045779629'),
    (9, 'workspace_owner', '2025-10-17T08:53:20Z', '13961362275698776182'),
    (10, 'people_codes', '2025-10-18T08:53:20Z', '825943519967931888'),
    (11, 'skills_by_hand', '2025-10-19T08:53:20Z', '1837149571705061438'),
    (12, 'limits', '2025-10-20T08:53:20Z', '16244061763205769134'),
    (13, 'opening_label', '2025-10-21T08:53:20Z', '17049124530580909077'),
    (14, 'sent', '2025-10-22T08:53:20Z', '10325800864195475681'),
    (15, 'delivery', '2025-10-23T08:53:20Z', '13343944986615949815'),
    (16, 'reminder_until', '2025-10-24T08:53:20Z', '8522695814206867885'),
    (17, 'edits_shown', '2025-10-25T08:53:20Z', '6173363889022557231'),
    (18, 'not_made', '2025-10-26T08:53:20Z', '1407813676220690848'),
    (19, 'heartbeat', '2025-10-27T08:53:20Z', '7847411173580285524'),
    (20, 'instead_of', '2025-10-28T08:53:20Z', '6526278176850512613'),
    (21, 'chosen_forgetting', '2025-10-29T08:53:20Z', '5501992625665015704'),
    (22, 'grants', '2025-10-30T08:53:20Z', '7561934939351647837'),
    (23, 'loaded_skills', '2025-10-31T08:53:20Z', '10509364168465055464'),
    (24, 'profiles_of_entries', '2025-11-01T08:53:20Z', '2390093856652728953'),
    (25, 'decided_buttons', '2025-11-02T08:53:20Z', '12521982718453046095'),
    (26, 'strangers', '2025-11-03T08:53:20Z', '4923109491759219709'),
    (27, 'imports', '2025-11-04T08:53:20Z', '13364628569907156347'),
    (28, 'languages', '2025-11-05T08:53:20Z', '8866021261673410247'),
    (29, 'conversation_labels', '2025-11-06T08:53:20Z', '8626859674976736274'),
    (30, 'web', '2025-11-07T08:53:20Z', '8746956208110354910'),
    (31, 'chat_page', '2025-11-08T08:53:20Z', '14080560421655492733'),
    (32, 'calendar', '2025-11-09T08:53:20Z', '6060847797639919313'),
    (33, 'health', '2025-11-10T08:53:20Z', '2531670475404048407'),
    (34, 'own_indexes', '2025-11-11T08:53:20Z', '12872972500058282556'),
    (35, 'indexed_paths', '2026-11-27T12:00:00Z', '10710726666492494295');
INSERT INTO meta (key, value) VALUES
    ('fingerprints', '3'),
    ('hand_edits', '1'),
    ('language', 'en'),
    ('old_fact', 'kept'),
    ('program_version', '0.1.0');
INSERT INTO people (id, name, role, declared, created_at, removed_at, prefer, folder, ended, namesake_id, zone, quiet_hours, language, channel_language, own_language, own_zone) VALUES
    (1, 'Ada', 'owner', 'config', 1760000000000, NULL, '', 'people/1-ada', '', NULL, '', '22:00-07:00', '', '', '', ''),
    (2, 'Ben', 'member', 'pairing', 1760000001000, NULL, 'telegram', 'people/2-ben', '', NULL, 'Asia/Tokyo', '23:00-06:00', '', 'de', 'es', 'Europe/Vienna'),
    (3, 'Cat', 'member', 'pairing', 1760000002000, 1760000900000, '', 'people/3-cat', '', NULL, '', '22:00-07:00', '', '', '', ''),
    (4, 'cat', 'member', 'pairing', 1760500000000, 1760500100000, '', '', 'joined', 3, '', '22:00-07:00', '', '', '', '');
INSERT INTO addresses (id, person_id, adapter, account, peer, linked_at, last_heard_at, wait_until, alias) VALUES
    (1, 1, 'telegram', '42', '7', 1760000000000, 1760000100000, 0, ''),
    (2, 2, 'telegram', '42', '8', 1760000001000, 1760000200000, 1760000201000, '+431234567890'),
    (3, NULL, 'telegram', '42', '9', 1760000003000, 0, 0, ''),
    (4, NULL, 'telegram', '42', '-100777', 1760300000000, 0, 0, '');
INSERT INTO strangers (id, adapter, account, sender, first_at, last_at, count, told_day, guesses, guess_day, name, told, announced_at, ignored_at, is_group) VALUES
    (1, 'telegram', '42', '9', 1760000003000, 1760000004000, 2, '2025-10-09', 1, '2025-10-09', 'Zoe', 2, 1760000105000, 0, 0);
INSERT INTO pairing_codes (id, digest, name, role, created_at, expires_at, used_at, asked_at_address, issuer_id, person_id) VALUES
    (1, 'digest-of-a-code', 'Ben', 'member', 1760000000500, 1760000600500, 1760000001000, 2, 1, 2);
INSERT INTO cursors (adapter, account, cursor, last_event_at) VALUES
    ('telegram', '42', '1001', 1760000200000);
INSERT INTO inbox (id, adapter, account, external_id, received_at, fate, raw, message_id) VALUES
    (1, 'telegram', '42', '1000', 1760000100000, 'admitted', '{"text": "The orchard is mine"}', NULL),
    (2, 'telegram', '42', '1001', 1760000200000, 'admitted', '', 1);
INSERT INTO streams (id, person_id, scope, break_at, work_of, address_id) VALUES
    (1, 1, 'person:1', NULL, NULL, NULL),
    (2, 2, 'person:2', 1760000300000, NULL, NULL),
    (3, NULL, 'person:1', NULL, 1, NULL),
    (4, NULL, 'group:4', NULL, NULL, 4);
INSERT INTO conversations (id, stream_id, kind, scope, began_because, opened_at, last_at, last_message_id, messages, closed_at, written_down, opening, opening_state, forgotten_at, revision, extracted_upto, compacted_upto, opening_label, import_id, label) VALUES
    (1, 1, 'chat', 'person:1', 'first', 1760000100000, 1760000102000, 2, 2, 1760000103000, 1, 'Earlier: the orchard.', 'final', NULL, 0, 2, 1, 'trusted', NULL, 'trusted'),
    (2, 2, 'chat', 'person:2', 'first', 1760000200000, 1760000200000, 3, 1, 1760000300000, 1, 'Earlier: pears.', 'none', 1760200000000, 0, 0, 0, 'telegram:file', NULL, 'telegram:file'),
    (3, 3, 'reflection', 'person:1', 'new', 1760100000000, 1760100001000, 4, 1, 1760100002000, 1, '', 'none', NULL, 0, 0, 0, '', NULL, 'trusted'),
    (4, 4, 'chat', 'group:4', 'first', 1760300001000, 1760300001000, 5, 1, 1760300002000, 1, '', 'none', NULL, 2, 0, 0, '', NULL, 'telegram:guest'),
    (100, 1, 'imported', 'person:1', 'new', 1750000000000, 1750000001000, 0, 0, 1750000001000, 1, '', 'none', NULL, 0, 0, 0, '', 1, 'trusted');
INSERT INTO messages (id, stream_id, conversation_id, inbox_id, address_id, person_id, kind, scope, external_id, album, received_at, server_at, effective_at, state, reason, turn_id, edited_at, guest, also, expires_after, gone_at, tries, cause, cause_id, shown_to) VALUES
    (1, 1, 1, 1, 1, 1, 'said', 'person:1', '500', '', 1760000100000, 1760000099000, 1760000100000, 'answered', '', 1, 1760000101000, 0, '', NULL, NULL, 0, NULL, NULL, NULL),
    (2, 1, 1, NULL, 1, NULL, 'reply', 'person:1', '501', '', 1760000102000, NULL, 1760000102000, 'done', '', 1, NULL, 0, '', NULL, NULL, 0, NULL, NULL, NULL),
    (3, 2, 2, 2, 2, 2, 'said', 'person:2', '502', 'album-1', 1760000200000, 1760000199000, 1760000200000, 'closed', 'The model was away', 2, NULL, 0, '', NULL, NULL, 1, NULL, NULL, NULL),
    (4, 3, 3, NULL, 1, NULL, 'reply', 'person:1', '', '', 1760100001000, NULL, 1760100001000, 'done', '', 3, NULL, 0, '', NULL, NULL, 0, NULL, NULL, NULL),
    (5, 4, 4, NULL, 4, NULL, 'said', 'group:4', '510', '', 1760300001000, NULL, 1760300001000, 'answered', '', NULL, NULL, 1, '511', 3600000, 1760303601000, 0, NULL, NULL, NULL),
    (6, 1, NULL, NULL, 1, NULL, 'sent', 'person:1', '', '', 1760600000000, NULL, 1760600000000, 'done', '', NULL, NULL, 0, '', NULL, NULL, 0, 'reminder', 1, 1);
INSERT INTO texts (id, message_id, kind, text, label, scope, shown_to) VALUES
    (1, 1, 'said', 'The orchard is mine', 'trusted', 'person:1', 0),
    (2, 2, 'said', 'Noted: the orchard is yours.', 'trusted', 'person:1', 0),
    (3, 3, 'said', 'Look at this', 'trusted', 'person:2', 0),
    (4, 3, 'file', 'The pears in this picture ripen in September, says the page that came with it.', 'telegram:file', 'person:2', 0),
    (5, 4, 'said', 'A day about the orchard.', 'trusted', 'person:1', 0),
    (6, 5, 'said', '', 'telegram:guest', 'group:4', 0),
    (7, 6, 'said', 'Prune the pear tree', 'trusted', 'person:1', 0),
    (8, 1, 'edit', 'The orchard is ours', 'trusted', 'person:1', 3);
INSERT INTO attachments (id, message_id, kind, reference, mime, name, size, state, path, digest, trouble, label, scope, text_path, is_part) VALUES
    (1, 3, 'document', 'file-1', 'text/plain', 'pears.txt', 5, 'failed', '', '', 'It was too large', 'telegram:file', 'person:2', 'inbox/1-pears.txt', 1);
INSERT INTO turns (id, stream_id, conversation_id, person_id, address_id, scope, state, claimed_at, ended_at, context, context_label, label, attempts, retry_at, noticed, reason, reacted, recalled, counted, lives) VALUES
    (1, 1, 1, 1, 1, 'person:1', 'done', 1760000100500, 1760000102000, 'It is noon.', 'trusted', 'trusted', 1, NULL, 0, '', '', 'Ada likes pears.', 1240, 0),
    (2, 2, 2, 2, 2, 'person:2', 'gave_up', 1760000200500, 1760000202000, '', 'trusted', 'trusted', 9, NULL, 1, 'The model was away', '', '', 0, 2),
    (3, 3, 3, 1, 1, 'person:1', 'done', 1760100000500, 1760100001000, '', 'trusted', 'trusted', 0, NULL, 0, '', 'Ada put 👍 under your answer.', '', 0, 0);
INSERT INTO steps (id, turn_id, seq, kind, state, tool, call, text, model, label, scope, started_at, ended_at, failed, made, grant_id, version_id) VALUES
    (1, 1, 0, 'tool', 'done', 'recall', '{"id": "1", "name": "recall", "arguments": {}}', 'nothing', '', 'trusted', 'person:1', 1760000100600, 1760000100700, 1, 0, 1, 1),
    (2, 1, 1, 'model', 'done', '', '', 'Noted: the orchard is yours.', 'offline/offline', 'trusted', 'person:1', 1760000100800, 1760000101900, 0, 1, NULL, NULL);
INSERT INTO outbox (id, address_id, kind, message_id, text, label, scope, buttons, state, created_at, ended_at, attempts, retry_at, trouble, quotes, failed_at, set_aside, tells_of, urgency, repeated, decision, decided_at, replacements_left) VALUES
    (1, 1, 'reply', 2, '', 'trusted', 'person:1', '[]', 'sent', 1760000102000, 1760000102500, 0, 0, '', '500', 0, 0, 0, 'asked', 0, 'Allowed', 1760000104000, 0),
    (2, 2, 'notice', NULL, 'I could not answer.', 'trusted', 'person:2', '[]', 'failed', 1760000202000, 1760000203000, 5, 0, 'blocked', '', 1760000203000, 1760000204000, 1, 'silent', 1, '', 0, 0);
INSERT INTO parts (id, outbox_id, seq, rich, plain, buttons, state, form, repeated, external_id, file, digest) VALUES
    (1, 1, 0, '', '', '[]', 'sent', 'plain', 1, '501', 'orchard.png', 'digest-5');
INSERT INTO previews (turn_id, address_id, external_id) VALUES
    (2, 2, '503');
INSERT INTO summaries (id, conversation_id, last_message_id, view, state, attempts, retry_at, title, topics, decisions, preferences, pending, model, label, scope, wanted_at, made_at) VALUES
    (1, 1, 2, 'trusted', 'made', 1, 1760000104000, 'The orchard', '["orchard"]', '[]', '["pears"]', '[]', 'extract', 'trusted', 'person:1', 1760000103000, 1760000105000);
INSERT INTO spending (id, turn_id, person_id, scope, purpose, model, day, at, state, priced, input_tokens, cached_tokens, output_tokens, micros, guessed_tokens) VALUES
    (1, 1, 1, 'person:1', 'chat', 'openai/small', '2025-10-09', 1760000100800, 'spent', 1, 1200, 300, 40, 2500, 1100);
INSERT INTO files (id, path, digest, label, scope, written_at, author, cause, replaces) VALUES
    (1, 'memory/tea.md', 'acb3f1514c5c96615aa92e171c48605ce5c470ff9cc9a870885d27b602810181', 'trusted', 'person:1', 1760000110000, 'assistant', 'remember', NULL);
INSERT INTO derived_from (child, parent) VALUES
    ('turn:1', 'message:1'),
    ('file:1', 'turn:1');
INSERT INTO skills (name, state, digest, title, description, origin, shipped, installed, label, scope, changed_at, version_id) VALUES
    ('pruning', 'gone', '', 'pruning', 'Use when trees are cut.', 'proposal', '', '', 'trusted', 'shared', 1760001100000, 1);
INSERT INTO skill_versions (id, skill, digest, origin, proposal_id, accepted, label, scope, made_at, hosts) VALUES
    (1, 'pruning', 'content-1', 'proposal', 1, 1, 'trusted', 'shared', 1760001100000, 'example.org');
INSERT INTO skill_files (id, version_id, proposal_id, path, bytes, label, scope) VALUES
    (1, 1, NULL, 'SKILL.md', X'43757420696E2077696E7465722E', 'trusted', 'shared'),
    (2, NULL, 1, 'SKILL.md', X'43757420696E2077696E7465722E', 'trusted', 'shared');
INSERT INTO proposals (id, skill, change, new_name, base, content, nonce, digest, rationale, origin, turn_id, person_id, standing, label, scope, state, reviewed, told, created_at, expires_at, decided_at, reason) VALUES
    (1, 'pruning', 'create', '', '', 'content-1', 'nonce-1', 'digest-1', 'It came up twice', 'turn', 1, 1, 'clean', 'trusted', 'person:1', 'approved', 1, 1, 1760001000000, 1760600000000, 1760001100000, ''),
    (2, 'pruning', 'rename', 'cutting', 'content-1', 'content-1', 'nonce-2', 'digest-2', 'A better name', 'turn', 1, 1, 'careful', 'trusted', 'person:1', 'rejected', 1, 1, 1760001200000, 1760600200000, 1760001300000, 'No');
INSERT INTO verdicts (id, proposal_id, stage, outcome, note, findings, label, scope, at) VALUES
    (1, 1, 'scan', 'passed', 'Nothing was found', '[]', 'trusted', 'person:1', 1760001050000);
INSERT INTO decisions (id, proposal_id, skill, act, outcome, decider, person_id, way, at) VALUES
    (1, 1, 'pruning', 'approve', 'done', 'owner', 1, 'chat', 1760001100000);
INSERT INTO skill_changes (id, proposal_id, skill, base, version_id, follows_id, state, begun_at, ended_at) VALUES
    (1, 1, 'pruning', '', 1, NULL, 'done', 1760001100000, 1760001101000);
INSERT INTO questions (id, stream_id, conversation_id, turn_id, step_id, person_id, address_id, call, covers, digest, state, asked_at, expires_at, decided_at, continued_by, label, scope) VALUES
    (1, 1, 1, 1, 1, 1, 1, '{"id": "1", "name": "fetch", "arguments": {}}', 'host:example.org', 'digest-3', 'yes', 1760000100650, 1760000700650, 1760000100700, NULL, 'telegram:file', 'person:1');
INSERT INTO fingerprints (hash, node) VALUES
    (123456789, 'text:4');
INSERT INTO outside_tools (id, server, name, description, schema, digest, label, scope, seen_at, accepted_digest, accepted_at, accepted_by) VALUES
    (1, 'files', 'read', 'Reads a file', '{"type": "object"}', 'digest-4', 'mcp:files', 'shared', 1760001400000, 'digest-4', 1760001500000, 1);
INSERT INTO slots (id, job, scope, period, run, from_at, to_at, due_at, state, conversation_id, tries, retry_at, reason, claimed_at, ended_at) VALUES
    (1, 'daily', 'person:1', '2025-10-09', 2, 1759968000000, 1760054400000, 1760066000000, 'done', 3, 1, NULL, '', 1760100000000, 1760100001000);
INSERT INTO reflections (id, slot_id, turn_id, message_id, title, label, scope, at) VALUES
    (1, 1, 3, 4, 'The orchard', 'trusted', 'person:1', 1760100001000);
INSERT INTO actions (id, reflection_id, seq, kind, title, payload, state, day, proposal_id, reason, label, scope, ended_at) VALUES
    (1, 1, 0, 'other', 'Prune the trees', '{"why": "winter"}', 'suggested', '2025-10-10', NULL, '', 'trusted', 'person:1', 1760100001000);
INSERT INTO reminders (id, person_id, kind, text, label, scope, cron, next_at, turn_id, created_at, state, ended_at, until_at) VALUES
    (1, 1, 'reminder', 'Prune the pear tree', 'trusted', 'person:1', '30 9 1 1 *', 4102444800000, 1, 1760000101000, 'waiting', NULL, 4133980800000),
    (2, 2, 'task', 'Look at the weather', 'trusted', 'person:2', '', NULL, 2, 1760000201000, 'cancelled', 1760000300000, NULL);
INSERT INTO groups (id, adapter, account, chat, allowed_as, first_at) VALUES
    (1, 'telegram', '42', '-100777', '-777', 1760300000000);
INSERT INTO guests (id, stream_id, sender, number) VALUES
    (1, 4, '9', 1);
INSERT INTO reactions (id, message_id, person_id, emoji, told, at) VALUES
    (1, 2, 1, '👍', '👍', 1760300003000);
INSERT INTO deleted_ahead (id, address_id, sender, external_id, at) VALUES
    (1, 4, '9', '599', 1760300004000);
INSERT INTO enclosures (id, turn_id, kind, what, digest) VALUES
    (1, 1, 'file', 'orchard.png', 'digest-5');
INSERT INTO file_contents (file_id, content) VALUES
    (1, X'54656120697320677265656E2E');
INSERT INTO indexed (path, scope, stamp, digest, label, trouble, size, at) VALUES
    ('memory/tea.md', 'person:1', '', 'digest-6', 'trusted', '', 13, 1760400000000);
INSERT INTO entries (id, key, path, section, line, name, kind, category, text, digest, label, scope, at) VALUES
    (1, 'key-1', 'memory/tea.md', '', 1, 'tea', 'note', 'user', 'Tea is green.', 'digest-7', 'trusted', 'person:1', 1760400000000);
INSERT INTO unindexed (path, scope) VALUES
    ('conversations/1', 'person:1'),
    ('reflections/1', 'person:1');
INSERT INTO entry_uses (key, uses, last_at) VALUES
    ('key-1', 3, 1760400001000);
INSERT INTO embeddings (id, model, digest, vector) VALUES
    (1, 'ollama/small/2', 'digest-7', X'0000803F00000000');
INSERT INTO text_digests (id, text_id, digest) VALUES
    (1, 1, 'digest-8');
INSERT INTO extractions (id, conversation_id, after_message, upto_message, cause, state, attempts, retry_at, facts, corrections, model, label, scope, wanted_at, ended_at) VALUES
    (1, 1, 0, 2, 'turns', 'kept', 1, 1760400002000, '[]', '[]', 'rules', 'trusted', 'person:1', 1760400002000, 1760400003000);
INSERT INTO compactions (id, conversation_id, upto_turn, upto_message, state, attempts, retry_at, summary, model, label, scope, wanted_at, made_at) VALUES
    (1, 1, 1, 2, 'made', 1, 1760400004000, 'They spoke of the orchard.', 'extract', 'trusted', 'person:1', 1760400004000, 1760400005000);
INSERT INTO keeps (id, turn_id, person_id, path, digest, shown, label, scope, state, number, address_id, wanted_at, expires_at, decided_at, instead_of, replaces) VALUES
    (1, 2, 2, 'memory/untrusted/pears.md', 'digest-9', 'Pears ripen in September.', 'telegram:file', 'person:2', 'no', 2, 2, 1760400006000, 1760400606000, 1760400007000, 'Pears ripen in August.', 'digest-12');
INSERT INTO forgettings (id, person_id, kind, target, needles, messages, state, counts, label, scope, wanted_at, ended_at, choice) VALUES
    (1, 1, 'fact', '', '[]', 1, 'done', '{"facts": 1}', 'trusted', 'person:1', 1760400008000, 1760400009000, '{}'),
    (2, 2, 'fact', '', '[]', 0, 'done', '{}', 'trusted', 'person:2', 1760800000000, 1760800001000, '{}');
INSERT INTO workspace (id, owner_id) VALUES
    (1, 1);
INSERT INTO declared_addresses (id, person_id, adapter, peer) VALUES
    (1, 2, 'telegram', '8');
INSERT INTO heartbeats (id, person_id, checked_at, next_at, ran_at, inputs, quiet) VALUES
    (1, 1, 1760700000000, 1760703600000, 1760700000000, 'digest-10', 2);
INSERT INTO heartbeat_ticks (id, person_id, digest, turn_id, ticked_at) VALUES
    (1, 1, 'digest-11', 3, 1760700001000);
INSERT INTO grants (id, conversation_id, person_id, kind, subject, covers, sources, uses_left, given_at, ended_at, scope) VALUES
    (1, 1, 1, 'tool', 'files_read', 'digest-13', 'trusted', 4, 1760900000000, 1760900001000, 'person:1');
INSERT INTO imports (id, stream_id, kind, name, scope, state, may_embed, began_at, ended_at) VALUES
    (1, 1, 'chatgpt', 'export.zip', 'person:1', 'done', 0, 1761000000000, 1761000060000);
INSERT INTO web_codes (digest, person_id, began_by, expires_at) VALUES
    ('a1', 2, 'command_line', 1762505600000);
INSERT INTO web_sessions (id, digest, person_id, role, began_by, browser, began_at, seen_at, expires_at, looked_at, theme, shortcuts) VALUES
    (1, 'b2', 2, 'member', 'chat', 'Firefox', 1762505600000, 1762505600000, 1765097600000, 1762505600000, 'dark', 0);
INSERT INTO health_changes (id, part, state, at) VALUES
    (1, 'telegram', 'ill', 1762764800000);

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
COMMIT;
