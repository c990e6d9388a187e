INSERT INTO refinery_schema_history VALUES (28, 'languages', '2025-11-05T08:53:20Z', '8866021261673410247');

UPDATE people SET channel_language = 'de', own_language = 'es', own_zone = 'Europe/Vienna' WHERE id = 2;
