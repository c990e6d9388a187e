INSERT INTO refinery_schema_history VALUES (25, 'decided_buttons', '2025-11-02T08:53:20Z', '12521982718453046095');

UPDATE outbox SET decision = 'Allowed', decided_at = 1760000104000, replacements_left = 0 WHERE id = 1;
