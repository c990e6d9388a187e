-- Which turn went on without an answer to a question, while a late yes still counts.
ALTER TABLE questions ADD COLUMN resumed_by INTEGER REFERENCES turns (id); -- turn that went on before an answer
CREATE INDEX questions_resumed ON questions (resumed_by) WHERE resumed_by IS NOT NULL;
-- Who asks for a reflection learns how it ends.
ALTER TABLE slots ADD COLUMN wish TEXT; -- a person asked for it: told (in the chat), waits (at the command line); null for nobody
