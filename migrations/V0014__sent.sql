-- What goes to a person without being asked for is a message of their stream, of kind 'sent'.

ALTER TABLE messages ADD COLUMN cause TEXT;       -- reminder, task, …; null for every other kind
ALTER TABLE messages ADD COLUMN cause_id INTEGER; -- number of that reminder, …
ALTER TABLE messages ADD COLUMN shown_to INTEGER REFERENCES turns (id); -- the turn that was shown it; null until then
CREATE INDEX messages_sent ON messages (stream_id, id) WHERE kind = 'sent' AND shown_to IS NULL;
CREATE INDEX messages_shown ON messages (shown_to) WHERE shown_to IS NOT NULL;
