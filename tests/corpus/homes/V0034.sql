INSERT INTO refinery_schema_history VALUES (34, 'own_indexes', '2025-11-11T08:53:20Z', '12872972500058282556');
