INSERT INTO refinery_schema_history VALUES (18, 'not_made', '2025-10-26T08:53:20Z', '1407813676220690848');

UPDATE steps SET made = 0 WHERE id = 1;
