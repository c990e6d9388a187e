INSERT INTO refinery_schema_history VALUES (2, 'skills', '2025-10-10T08:53:20Z', '692337258273181736');

INSERT INTO proposals (id, skill, change, new_name, base, content, nonce, digest, rationale, origin, turn_id, person_id, standing, label, scope, state, reviewed, told, created_at, expires_at, decided_at, reason) VALUES
    (1, 'pruning', 'create', '', '', 'content-1', 'nonce-1', 'digest-1', 'It came up twice', 'turn', 1, 1, 'clean', 'trusted', 'person:1', 'approved', 1, 1, 1760001000000, 1760600000000, 1760001100000, ''),
    (2, 'pruning', 'rename', 'cutting', 'content-1', 'content-1', 'nonce-2', 'digest-2', 'A better name', 'turn', 1, 1, 'careful', 'trusted', 'person:1', 'rejected', 1, 1, 1760001200000, 1760600200000, 1760001300000, 'No');
INSERT INTO skill_versions (id, skill, digest, origin, proposal_id, accepted, label, scope, made_at) VALUES
    (1, 'pruning', 'content-1', 'proposal', 1, 1, 'trusted', 'shared', 1760001100000);
INSERT INTO skills (name, state, digest, title, description, origin, shipped, installed, label, scope, changed_at) VALUES
    ('pruning', 'gone', '', 'pruning', 'Use when trees are cut.', 'proposal', '', '', 'trusted', 'shared', 1760001100000);
INSERT INTO skill_files (id, version_id, proposal_id, path, bytes, label, scope) VALUES
    (1, 1, NULL, 'SKILL.md', CAST('Cut in winter.' AS BLOB), 'trusted', 'shared'),
    (2, NULL, 1, 'SKILL.md', CAST('Cut in winter.' AS BLOB), 'trusted', 'shared');
INSERT INTO verdicts (id, proposal_id, stage, outcome, note, findings, label, scope, at) VALUES
    (1, 1, 'scan', 'passed', 'Nothing was found', '[]', 'trusted', 'person:1', 1760001050000);
INSERT INTO decisions (id, proposal_id, skill, act, outcome, decider, person_id, way, at) VALUES
    (1, 1, 'pruning', 'approve', 'done', 'owner', 1, 'chat', 1760001100000);
INSERT INTO skill_changes (id, proposal_id, skill, base, version_id, follows_id, state, begun_at, ended_at) VALUES
    (1, 1, 'pruning', '', 1, NULL, 'done', 1760001100000, 1760001101000);
INSERT INTO questions (id, stream_id, conversation_id, turn_id, step_id, person_id, address_id, call, covers, digest, state, asked_at, expires_at, decided_at, continued_by, label, scope) VALUES
    (1, 1, 1, 1, 1, 1, 1, '{"id": "1", "name": "fetch", "arguments": {}}', 'host:example.org', 'digest-3', 'yes', 1760000100650, 1760000700650, 1760000100700, NULL, 'telegram:file', 'person:1');
INSERT INTO fingerprints (hash, node) VALUES (123456789, 'text:4');
INSERT INTO outside_tools (id, server, name, description, schema, digest, label, scope, seen_at, accepted_digest, accepted_at, accepted_by) VALUES
    (1, 'files', 'read', 'Reads a file', '{"type": "object"}', 'digest-4', 'mcp:files', 'shared', 1760001400000, 'digest-4', 1760001500000, 1);
