INSERT INTO refinery_schema_history VALUES (8, 'lives', '2025-10-16T08:53:20Z', '7799440433045779629');

UPDATE turns SET lives = 2 WHERE id = 2;
