-- The answers to commands in a chat, without reading what others were sent. An index of all deliveries draws the
-- queries of the queue off their own.

DROP INDEX outbox_address;
CREATE INDEX outbox_answers ON outbox (address_id, id) WHERE message_id IS NULL;

-- What a turn is told about, without reading the reactions before.
CREATE INDEX reactions_untold ON reactions (message_id) WHERE emoji <> told;
