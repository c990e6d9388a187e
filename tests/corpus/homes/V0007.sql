INSERT INTO refinery_schema_history VALUES (7, 'places', '2025-10-15T08:53:20Z', '1167870737234180349');
