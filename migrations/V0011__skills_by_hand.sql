-- A folder that was put among the skills by hand is held until the owner accepts it, and an approved skill of a third party keeps its origin: a label is
-- `trusted` or sources, and then an `approved:VERSION` for each version of such a skill that had a part in the text.

ALTER TABLE skills ADD COLUMN version_id INTEGER REFERENCES skill_versions (id); -- the version that is used, be it that another content lies in the folder and is held; null while none is

ALTER TABLE skill_versions ADD COLUMN hosts TEXT NOT NULL DEFAULT ''; -- of a third party's skill: the hosts that were shown when it was accepted, separated by spaces

-- What was live before counts as accepted.
UPDATE skills SET version_id = (
    SELECT max(v.id) FROM skill_versions v WHERE v.skill = skills.name AND v.digest = skills.digest AND v.accepted = 1)
WHERE state IN ('live', 'held');
UPDATE skills SET state = 'live' WHERE state = 'held' AND version_id IS NOT NULL;

-- The next start looks at them once, and the owner is told of those that were put there by hand.
INSERT INTO meta (key, value) SELECT 'skills_carried_over', '' WHERE EXISTS (SELECT 1 FROM skills);
