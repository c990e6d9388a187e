INSERT INTO refinery_schema_history VALUES (3, 'time', '2025-10-11T08:53:20Z', '16312153703350340067');

INSERT INTO streams (id, person_id, scope, break_at, work_of) VALUES (3, NULL, 'person:1', NULL, 1);
UPDATE steps SET failed = 1 WHERE id = 1;
INSERT INTO conversations (id, stream_id, kind, scope, began_because, opened_at, last_at, last_message_id, messages, closed_at, written_down, opening, opening_state) VALUES
    (3, 3, 'reflection', 'person:1', 'new', 1760100000000, 1760100001000, 4, 1, 1760100002000, 1, '', 'none');
INSERT INTO turns (id, stream_id, conversation_id, person_id, address_id, scope, state, claimed_at, ended_at, context_label, label) VALUES
    (3, 3, 3, 1, 1, 'person:1', 'done', 1760100000500, 1760100001000, 'trusted', 'trusted');
INSERT INTO messages (id, stream_id, conversation_id, inbox_id, address_id, person_id, kind, scope, received_at, effective_at, state, turn_id) VALUES
    (4, 3, 3, NULL, 1, NULL, 'reply', 'person:1', 1760100001000, 1760100001000, 'done', 3);
INSERT INTO texts (id, message_id, kind, text, label, scope) VALUES (5, 4, 'said', 'A day about the orchard.', 'trusted', 'person:1');
INSERT INTO slots (id, job, scope, period, run, from_at, to_at, due_at, state, conversation_id, tries, retry_at, reason, claimed_at, ended_at) VALUES
    (1, 'daily', 'person:1', '2025-10-09', 2, 1759968000000, 1760054400000, 1760066000000, 'done', 3, 1, NULL, '', 1760100000000, 1760100001000);
INSERT INTO reflections (id, slot_id, turn_id, message_id, title, label, scope, at) VALUES
    (1, 1, 3, 4, 'The orchard', 'trusted', 'person:1', 1760100001000);
INSERT INTO actions (id, reflection_id, seq, kind, title, payload, state, day, proposal_id, reason, label, scope, ended_at) VALUES
    (1, 1, 0, 'other', 'Prune the trees', '{"why": "winter"}', 'suggested', '2025-10-10', NULL, '', 'trusted', 'person:1', 1760100001000);
INSERT INTO reminders (id, person_id, kind, text, label, scope, cron, next_at, turn_id, created_at, state, ended_at) VALUES
    (1, 1, 'reminder', 'Prune the pear tree', 'trusted', 'person:1', '30 9 1 1 *', 4102444800000, 1, 1760000101000, 'waiting', NULL),
    (2, 2, 'task', 'Look at the weather', 'trusted', 'person:2', '', NULL, 2, 1760000201000, 'cancelled', 1760000300000);
