-- The version of a skill that the owners know, so that an edit in place is told.
ALTER TABLE skills ADD COLUMN known_id INTEGER REFERENCES skill_versions (id); -- it came through the gate, or they were told of it
ALTER TABLE skills ADD COLUMN known_to INTEGER; -- newest version when they were told last, or when the gate wrote last
ALTER TABLE skills ADD COLUMN told_at INTEGER; -- they were told of an edit last
UPDATE skills SET known_id = version_id, known_to = (SELECT max(id) FROM skill_versions WHERE skill = skills.name);
