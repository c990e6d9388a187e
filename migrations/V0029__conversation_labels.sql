-- The list of conversations costs by its page: each conversation holds the join of the labels of all that was said in
-- it, and can be found by its kind.

ALTER TABLE conversations ADD COLUMN label TEXT NOT NULL DEFAULT ''; -- join of the labels of its texts and turns, which never loses a source; blank until the next start joins them
CREATE INDEX conversations_unlabelled ON conversations (id) WHERE label = '';
CREATE INDEX conversations_kind ON conversations (kind, id);
CREATE INDEX conversations_stream_kind ON conversations (stream_id, kind, id);
