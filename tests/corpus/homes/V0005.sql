INSERT INTO refinery_schema_history VALUES (5, 'signal', '2025-10-13T08:53:20Z', '12052894297388616932');

UPDATE addresses SET alias = '+431234567890' WHERE id = 2;
UPDATE pairing_codes SET asked_at_address = 2 WHERE id = 1;
UPDATE people SET prefer = 'telegram' WHERE id = 2;
INSERT INTO addresses (id, person_id, adapter, account, peer, linked_at) VALUES (4, NULL, 'telegram', '42', '-100777', 1760300000000);
INSERT INTO streams (id, person_id, scope, break_at, address_id) VALUES (4, NULL, 'group:4', NULL, 4);
INSERT INTO conversations (id, stream_id, kind, scope, began_because, opened_at, last_at, last_message_id, messages, closed_at, written_down, revision) VALUES
    (4, 4, 'chat', 'group:4', 'first', 1760300001000, 1760300001000, 5, 1, 1760300002000, 1, 2);
INSERT INTO messages (id, stream_id, conversation_id, address_id, person_id, kind, scope, external_id, received_at, effective_at, state, guest, also, expires_after, gone_at) VALUES
    (5, 4, 4, 4, NULL, 'said', 'group:4', '510', 1760300001000, 1760300001000, 'answered', 1, '511', 3600000, 1760303601000);
INSERT INTO texts (id, message_id, kind, text, label, scope) VALUES (6, 5, 'said', '', 'telegram:guest', 'group:4');
UPDATE outbox SET quotes = '500' WHERE id = 1;
UPDATE parts SET file = 'orchard.png', digest = 'digest-5' WHERE id = 1;
INSERT INTO groups (id, adapter, account, chat, allowed_as, first_at) VALUES (1, 'telegram', '42', '-100777', '-777', 1760300000000);
INSERT INTO guests (id, stream_id, sender, number) VALUES (1, 4, '9', 1);
INSERT INTO reactions (id, message_id, person_id, emoji, told, at) VALUES (1, 2, 1, '👍', '👍', 1760300003000);
UPDATE inbox SET message_id = 1 WHERE id = 2;
UPDATE turns SET reacted = 'Ada put 👍 under your answer.' WHERE id = 3;
INSERT INTO deleted_ahead (id, address_id, sender, external_id, at) VALUES (1, 4, '9', '599', 1760300004000);
INSERT INTO enclosures (id, turn_id, kind, what, digest) VALUES (1, 1, 'file', 'orchard.png', 'digest-5');
