INSERT INTO refinery_schema_history VALUES (4, 'upkeep', '2025-10-12T08:53:20Z', '4882266626625246837');

UPDATE conversations SET forgotten_at = 1760200000000 WHERE id = 2;
