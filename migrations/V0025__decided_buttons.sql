-- Buttons whose decision was made, by a press, a command, another person or time: the message shows the decision in
-- their place.

ALTER TABLE outbox ADD COLUMN decision TEXT NOT NULL DEFAULT '';          -- shown in place of its buttons; blank while they can be used
ALTER TABLE outbox ADD COLUMN decided_at INTEGER NOT NULL DEFAULT 0;      -- when that was decided
ALTER TABLE outbox ADD COLUMN replacements_left INTEGER NOT NULL DEFAULT 0; -- tries left to replace them; 0 if that is done or given up
CREATE INDEX outbox_buttons ON outbox (id) WHERE buttons <> '[]';
CREATE INDEX outbox_decided ON outbox (address_id) WHERE replacements_left > 0;
