INSERT INTO refinery_schema_history VALUES (23, 'loaded_skills', '2025-10-31T08:53:20Z', '10509364168465055464');

UPDATE steps SET version_id = 1 WHERE id = 1;
