INSERT INTO refinery_schema_history VALUES (14, 'sent', '2025-10-22T08:53:20Z', '10325800864195475681');

INSERT INTO messages (id, stream_id, conversation_id, address_id, person_id, kind, scope, received_at, effective_at, state, cause, cause_id, shown_to) VALUES
    (6, 1, NULL, 1, NULL, 'sent', 'person:1', 1760600000000, 1760600000000, 'done', 'reminder', 1, 1);
INSERT INTO texts (id, message_id, kind, text, label, scope) VALUES (7, 6, 'said', 'Prune the pear tree', 'trusted', 'person:1');
