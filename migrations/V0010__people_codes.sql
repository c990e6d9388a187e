-- Pairing codes refer to a person id and to who made them. The addresses of the configuration say who a person is, before any channel is connected.

ALTER TABLE pairing_codes ADD COLUMN issuer_id INTEGER REFERENCES people (id); -- who made it; null for the command line of the home
ALTER TABLE pairing_codes ADD COLUMN person_id INTEGER REFERENCES people (id); -- whom it is for; null for a newcomer, described by name and role
-- Codes from before name nobody by id and have no issuer: they are void.
UPDATE pairing_codes SET expires_at = min(expires_at, created_at) WHERE used_at IS NULL;

ALTER TABLE people ADD COLUMN ended TEXT NOT NULL DEFAULT ''; -- forgotten, or joined to another person: never let in again; blank otherwise
ALTER TABLE people ADD COLUMN namesake_id INTEGER REFERENCES people (id); -- an earlier person of that name, until an owner has said whether both are one; else null
UPDATE people SET ended = 'forgotten' WHERE removed_at IS NOT NULL AND name = 'forgotten ' || id;
UPDATE people SET ended = 'joined' WHERE removed_at IS NOT NULL AND name LIKE '% #' || id;

CREATE TABLE declared_addresses (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- declared address
    person_id INTEGER NOT NULL REFERENCES people (id), -- whom the configuration gave it to last; kept when they are removed
    adapter TEXT NOT NULL,                -- telegram, signal
    peer TEXT NOT NULL,                   -- as the configuration spells it: an id, a number, an account identifier
    UNIQUE (adapter, peer)
) STRICT;
CREATE INDEX declared_addresses_person ON declared_addresses (person_id);
