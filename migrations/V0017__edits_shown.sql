-- An edit of a message that was answered before is shown to the next turn.

ALTER TABLE texts ADD COLUMN shown_to INTEGER NOT NULL DEFAULT 0; -- of an edit: the turn that was shown it, -1 until then; 0 for anything else
CREATE INDEX texts_shown ON texts (shown_to) WHERE shown_to <> 0;
