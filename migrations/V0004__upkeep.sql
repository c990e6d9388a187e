-- What retention needs to find its work without looking at everything. Labels, scopes and instants are those of V0001.

ALTER TABLE conversations ADD COLUMN forgotten_at INTEGER; -- its words were deleted because of their age, then; null while they are kept
CREATE INDEX conversations_remembered ON conversations (last_at) WHERE forgotten_at IS NULL;
CREATE INDEX messages_edited ON messages (edited_at) WHERE edited_at IS NOT NULL;
CREATE INDEX messages_apart ON messages (received_at) WHERE conversation_id IS NULL;
CREATE INDEX outbox_words ON outbox (created_at) WHERE text <> '';
CREATE INDEX attachments_here ON attachments (id) WHERE state = 'here';
CREATE INDEX inbox_loose ON inbox (received_at) WHERE fate IN ('stranger', 'nothing', 'unreadable');
