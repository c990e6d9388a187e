INSERT INTO refinery_schema_history VALUES (32, 'calendar', '2025-11-09T08:53:20Z', '6060847797639919313');
