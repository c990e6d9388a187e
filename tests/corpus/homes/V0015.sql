INSERT INTO refinery_schema_history VALUES (15, 'delivery', '2025-10-23T08:53:20Z', '13343944986615949815');

UPDATE outbox SET urgency = 'silent', repeated = 1 WHERE id = 2;
UPDATE people SET zone = 'Asia/Tokyo', quiet_hours = '23:00-06:00' WHERE id = 2;
