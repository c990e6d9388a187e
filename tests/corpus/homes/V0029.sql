INSERT INTO refinery_schema_history VALUES (29, 'conversation_labels', '2025-11-06T08:53:20Z', '8626859674976736274');

UPDATE conversations SET label = 'trusted';
UPDATE conversations SET label = 'telegram:file' WHERE id = 2;
