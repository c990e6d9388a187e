-- Whose files lie where. The root of the workspace belongs to one person, and that is a fact: who is owner, and in which order people came, does not change it.
CREATE TABLE workspace (
    id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id = 1), -- always 1: there is one root
    owner_id INTEGER NOT NULL REFERENCES people (id) -- the person whose files lie in the root, let in or not; only a hand-over changes it
) STRICT;

-- The folder has a name of its own, so that it stays theirs whatever they are called later.
ALTER TABLE people ADD COLUMN folder TEXT NOT NULL DEFAULT ''; -- where their files lie unless they have the root, relative to the workspace; blank until they have any
CREATE UNIQUE INDEX people_folder ON people (folder) WHERE folder <> '';

-- Folders that are being moved. The row comes before anything is renamed, and goes with the paths in all other tables once everything lies in its new place. While there
-- is one, no file is read for anybody whose folder it is about.
CREATE TABLE folder_moves (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- move; they are carried out in order
    kind TEXT NOT NULL,                   -- rename (a person's folder gets its name), hand_over (the root changes hands)
    state TEXT NOT NULL,                  -- wanted, begun (source and target are known), cleared (the root is empty)
    person_id INTEGER NOT NULL REFERENCES people (id), -- whose folder it is; of a hand-over who had the root
    heir_id INTEGER REFERENCES people (id), -- who gets the root; null for rename
    source TEXT NOT NULL DEFAULT '',      -- rename: the old folder; hand_over: the folder of the heir
    target TEXT NOT NULL DEFAULT ''       -- rename: the new folder; hand_over: the folder of who had the root
) STRICT;
-- Until now a folder went by the name of its person. Those who are let in come first: what goes by their name is theirs.
INSERT INTO folder_moves (kind, state, person_id)
    SELECT 'rename', 'wanted', id FROM people ORDER BY removed_at IS NOT NULL, id;
