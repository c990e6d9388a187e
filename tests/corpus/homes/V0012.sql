INSERT INTO refinery_schema_history VALUES (12, 'limits', '2025-10-20T08:53:20Z', '16244061763205769134');

UPDATE outbox SET failed_at = 1760000203000, set_aside = 1760000204000, tells_of = 1 WHERE id = 2;
UPDATE messages SET tries = 1 WHERE id = 3;
