INSERT INTO refinery_schema_history VALUES (13, 'opening_label', '2025-10-21T08:53:20Z', '17049124530580909077');

UPDATE conversations SET opening = 'Earlier: pears.', opening_label = 'telegram:file' WHERE id = 2;
