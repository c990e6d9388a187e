INSERT INTO refinery_schema_history VALUES (6, 'knowledge', '2025-10-14T08:53:20Z', '8362907694691701801');

UPDATE files SET author = 'assistant', cause = 'remember' WHERE id = 1;
INSERT INTO file_contents (file_id, content) VALUES (1, CAST('Tea is green.' AS BLOB));
INSERT INTO indexed (path, scope, stamp, digest, label, trouble, size, at) VALUES
    ('memory/tea.md', 'person:1', '1', 'digest-6', 'trusted', '', 13, 1760400000000);
INSERT INTO entries (id, key, path, section, line, name, kind, category, text, digest, label, scope, at) VALUES
    (1, 'key-1', 'memory/tea.md', '', 1, 'tea', 'note', 'user', 'Tea is green.', 'digest-7', 'trusted', 'person:1', 1760400000000);
INSERT INTO entry_uses (key, uses, last_at) VALUES ('key-1', 3, 1760400001000);
INSERT INTO embeddings (id, model, digest, vector) VALUES (1, 'ollama/small/2', 'digest-7', x'0000803f00000000');
INSERT INTO text_digests (id, text_id, digest) VALUES (1, 1, 'digest-8');
UPDATE conversations SET extracted_upto = 2, compacted_upto = 1 WHERE id = 1;
INSERT INTO extractions (id, conversation_id, after_message, upto_message, cause, state, attempts, retry_at, facts, corrections, model, label, scope, wanted_at, ended_at) VALUES
    (1, 1, 0, 2, 'turns', 'kept', 1, 1760400002000, '[]', '[]', 'rules', 'trusted', 'person:1', 1760400002000, 1760400003000);
INSERT INTO compactions (id, conversation_id, upto_turn, upto_message, state, attempts, retry_at, summary, model, label, scope, wanted_at, made_at) VALUES
    (1, 1, 1, 2, 'made', 1, 1760400004000, 'They spoke of the orchard.', 'extract', 'trusted', 'person:1', 1760400004000, 1760400005000);
INSERT INTO keeps (id, turn_id, person_id, path, digest, shown, label, scope, state, number, address_id, wanted_at, expires_at, decided_at) VALUES
    (1, 2, 2, 'memory/untrusted/pears.md', 'digest-9', 'Pears ripen in September.', 'telegram:file', 'person:2', 'no', 2, 2, 1760400006000, 1760400606000, 1760400007000);
UPDATE attachments SET text_path = 'inbox/1-pears.txt', is_part = 1 WHERE id = 1;
UPDATE spending SET guessed_tokens = 1100 WHERE id = 1;
UPDATE turns SET recalled = 'Ada likes pears.', counted = 1240 WHERE id = 1;
INSERT INTO forgettings (id, person_id, kind, target, needles, messages, state, counts, label, scope, wanted_at, ended_at) VALUES
    (1, 1, 'fact', '', '[]', 1, 'done', '{"facts": 1}', 'trusted', 'person:1', 1760400008000, 1760400009000);
