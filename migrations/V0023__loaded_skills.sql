-- The skills that a conversation loaded say where it may send something without a question.

ALTER TABLE steps ADD COLUMN version_id INTEGER REFERENCES skill_versions (id); -- the version of a skill that the call read
