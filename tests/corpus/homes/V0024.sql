INSERT INTO refinery_schema_history VALUES (24, 'profiles_of_entries', '2025-11-01T08:53:20Z', '2390093856652728953');
