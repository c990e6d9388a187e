INSERT INTO refinery_schema_history VALUES (16, 'reminder_until', '2025-10-24T08:53:20Z', '8522695814206867885');

UPDATE reminders SET until_at = 4133980800000 WHERE id = 1;
