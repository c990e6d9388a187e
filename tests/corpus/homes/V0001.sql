INSERT INTO refinery_schema_history VALUES (1, 'foundation', '2025-10-09T08:53:20Z', '16930052137208694324');

INSERT INTO meta (key, value) VALUES ('old_fact', 'kept');
INSERT INTO people (id, name, role, declared, created_at, removed_at) VALUES
    (1, 'Ada', 'owner', 'config', 1760000000000, NULL),
    (2, 'Ben', 'member', 'pairing', 1760000001000, NULL),
    (3, 'Cat', 'member', 'pairing', 1760000002000, 1760000900000);
INSERT INTO addresses (id, person_id, adapter, account, peer, linked_at, last_heard_at, wait_until) VALUES
    (1, 1, 'telegram', '42', '7', 1760000000000, 1760000100000, 0),
    (2, 2, 'telegram', '42', '8', 1760000001000, 1760000200000, 1760000201000),
    (3, NULL, 'telegram', '42', '9', 1760000003000, 0, 0);
INSERT INTO strangers (id, adapter, account, sender, first_at, last_at, count, told_day, guesses, guess_day) VALUES
    (1, 'telegram', '42', '9', 1760000003000, 1760000004000, 2, '2025-10-09', 1, '2025-10-09');
INSERT INTO pairing_codes (id, digest, name, role, created_at, expires_at, used_at) VALUES
    (1, 'digest-of-a-code', 'Ben', 'member', 1760000000500, 1760000600500, 1760000001000);
INSERT INTO cursors (adapter, account, cursor, last_event_at) VALUES ('telegram', '42', '1001', 1760000200000);
INSERT INTO inbox (id, adapter, account, external_id, received_at, fate, raw) VALUES
    (1, 'telegram', '42', '1000', 1760000100000, 'admitted', '{"text": "The orchard is mine"}'),
    (2, 'telegram', '42', '1001', 1760000200000, 'admitted', '');
INSERT INTO streams (id, person_id, scope, break_at) VALUES (1, 1, 'person:1', NULL), (2, 2, 'person:2', 1760000300000);
INSERT INTO conversations (id, stream_id, kind, scope, began_because, opened_at, last_at, last_message_id, messages, closed_at, written_down, opening, opening_state) VALUES
    (1, 1, 'chat', 'person:1', 'first', 1760000100000, 1760000102000, 2, 2, 1760000103000, 1, 'Earlier: the orchard.', 'final'),
    (2, 2, 'chat', 'person:2', 'first', 1760000200000, 1760000200000, 3, 1, 1760000300000, 1, '', 'none');
INSERT INTO turns (id, stream_id, conversation_id, person_id, address_id, scope, state, claimed_at, ended_at, context, context_label, label, attempts, retry_at, noticed, reason) VALUES
    (1, 1, 1, 1, 1, 'person:1', 'done', 1760000100500, 1760000102000, 'It is noon.', 'trusted', 'trusted', 1, NULL, 0, ''),
    (2, 2, 2, 2, 2, 'person:2', 'gave_up', 1760000200500, 1760000202000, '', 'trusted', 'trusted', 9, NULL, 1, 'The model was away');
INSERT INTO messages (id, stream_id, conversation_id, inbox_id, address_id, person_id, kind, scope, external_id, album, received_at, server_at, effective_at, state, reason, turn_id, edited_at) VALUES
    (1, 1, 1, 1, 1, 1, 'said', 'person:1', '500', '', 1760000100000, 1760000099000, 1760000100000, 'answered', '', 1, 1760000101000),
    (2, 1, 1, NULL, 1, NULL, 'reply', 'person:1', '501', '', 1760000102000, NULL, 1760000102000, 'done', '', 1, NULL),
    (3, 2, 2, 2, 2, 2, 'said', 'person:2', '502', 'album-1', 1760000200000, 1760000199000, 1760000200000, 'closed', 'The model was away', 2, NULL);
INSERT INTO texts (id, message_id, kind, text, label, scope) VALUES
    (1, 1, 'said', 'The orchard is mine', 'trusted', 'person:1'),
    (2, 2, 'said', 'Noted: the orchard is yours.', 'trusted', 'person:1'),
    (3, 3, 'said', 'Look at this', 'trusted', 'person:2'),
    (4, 3, 'file', 'The pears in this picture ripen in September, says the page that came with it.', 'telegram:file', 'person:2');
INSERT INTO attachments (id, message_id, kind, reference, mime, name, size, state, path, digest, trouble, label, scope) VALUES
    (1, 3, 'document', 'file-1', 'text/plain', 'pears.txt', 5, 'failed', '', '', 'It was too large', 'telegram:file', 'person:2');
INSERT INTO steps (id, turn_id, seq, kind, state, tool, call, text, model, label, scope, started_at, ended_at) VALUES
    (1, 1, 0, 'tool', 'done', 'recall', '{"id": "1", "name": "recall", "arguments": {}}', 'nothing', '', 'trusted', 'person:1', 1760000100600, 1760000100700),
    (2, 1, 1, 'model', 'done', '', '', 'Noted: the orchard is yours.', 'offline/offline', 'trusted', 'person:1', 1760000100800, 1760000101900);
INSERT INTO outbox (id, address_id, kind, message_id, text, label, scope, buttons, state, created_at, ended_at, attempts, retry_at, trouble) VALUES
    (1, 1, 'reply', 2, '', 'trusted', 'person:1', '[]', 'sent', 1760000102000, 1760000102500, 0, 0, ''),
    (2, 2, 'notice', NULL, 'I could not answer.', 'trusted', 'person:2', '[]', 'failed', 1760000202000, 1760000203000, 5, 0, 'blocked');
INSERT INTO parts (id, outbox_id, seq, rich, plain, buttons, state, form, repeated, external_id) VALUES
    (1, 1, 0, '', '', '[]', 'sent', 'plain', 1, '501');
INSERT INTO previews (turn_id, address_id, external_id) VALUES (2, 2, '503');
INSERT INTO summaries (id, conversation_id, last_message_id, view, state, attempts, retry_at, title, topics, decisions, preferences, pending, model, label, scope, wanted_at, made_at) VALUES
    (1, 1, 2, 'trusted', 'made', 1, 1760000104000, 'The orchard', '["orchard"]', '[]', '["pears"]', '[]', 'extract', 'trusted', 'person:1', 1760000103000, 1760000105000);
INSERT INTO spending (id, turn_id, person_id, scope, purpose, model, day, at, state, priced, input_tokens, cached_tokens, output_tokens, micros) VALUES
    (1, 1, 1, 'person:1', 'chat', 'openai/small', '2025-10-09', 1760000100800, 'spent', 1, 1200, 300, 40, 2500);
INSERT INTO files (id, path, digest, label, scope, written_at) VALUES
    (1, 'memory/tea.md', 'acb3f1514c5c96615aa92e171c48605ce5c470ff9cc9a870885d27b602810181', 'trusted', 'person:1', 1760000110000);
INSERT INTO derived_from (child, parent) VALUES ('turn:1', 'message:1'), ('file:1', 'turn:1');
