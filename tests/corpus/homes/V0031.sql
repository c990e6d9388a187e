INSERT INTO refinery_schema_history VALUES (31, 'chat_page', '2025-11-08T08:53:20Z', '14080560421655492733');
