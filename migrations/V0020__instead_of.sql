-- A text that a person may keep can take the place of one that is theirs already.

ALTER TABLE keeps ADD COLUMN instead_of TEXT NOT NULL DEFAULT ''; -- the text that a yes replaces, or its name if it is long; blank if none
ALTER TABLE keeps ADD COLUMN replaces TEXT NOT NULL DEFAULT ''; -- SHA-256 of that text; blank if none

-- Tags name categories now, and what was learned is no fact: memory files are read again.
UPDATE indexed SET stamp = '' WHERE path LIKE '%.md';
