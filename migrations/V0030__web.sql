-- Browsers: one-time codes that sign one in, and the sessions that follow. Both are stored as digests.

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
