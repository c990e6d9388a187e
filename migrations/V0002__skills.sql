-- Skills and the gate that they pass; the question before something is sent out; tools of other programs.

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
) STRICT, WITHOUT ROWID;

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
) STRICT;
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

-- Derived: fingerprints of untrusted texts, to recognise a paste (winnowing; Schleimer, Wilkerson and Aiken, 2003).
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
