INSERT INTO refinery_schema_history VALUES (27, 'imports', '2025-11-04T08:53:20Z', '13364628569907156347');

INSERT INTO imports (id, stream_id, kind, name, scope, state, may_embed, began_at, ended_at) VALUES
    (1, 1, 'chatgpt', 'export.zip', 'person:1', 'done', 0, 1761000000000, 1761000060000);
INSERT INTO conversations (id, stream_id, kind, scope, began_because, opened_at, last_at, last_message_id, messages, closed_at, written_down, opening, opening_state, import_id) VALUES
    (100, 1, 'imported', 'person:1', 'new', 1750000000000, 1750000001000, 0, 0, 1750000001000, 1, '', 'none', 1);
