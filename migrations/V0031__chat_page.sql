-- The newest of a chat, without reading what others said.
CREATE INDEX messages_stream ON messages (stream_id, id);
CREATE INDEX outbox_address ON outbox (address_id, id);
