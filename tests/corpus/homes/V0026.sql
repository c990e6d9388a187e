INSERT INTO refinery_schema_history VALUES (26, 'strangers', '2025-11-03T08:53:20Z', '4923109491759219709');

UPDATE strangers SET name = 'Zoe', told = 2, announced_at = 1760000105000 WHERE id = 1;
