-- The year of a person's conversations, and the cost of a turn, without reading anything else.

CREATE INDEX conversations_opened ON conversations (stream_id, kind, opened_at, messages);
CREATE INDEX spending_turn ON spending (turn_id) WHERE turn_id IS NOT NULL;
