INSERT INTO refinery_schema_history VALUES (22, 'grants', '2025-10-30T08:53:20Z', '7561934939351647837');

INSERT INTO grants (id, conversation_id, person_id, kind, subject, covers, sources, uses_left, given_at, ended_at, scope) VALUES
    (1, 1, 1, 'tool', 'files_read', 'digest-13', 'trusted', 4, 1760900000000, 1760900001000, 'person:1');
UPDATE steps SET grant_id = 1 WHERE id = 1;
