INSERT INTO refinery_schema_history VALUES (20, 'instead_of', '2025-10-28T08:53:20Z', '6526278176850512613');

UPDATE keeps SET instead_of = 'Pears ripen in August.', replaces = 'digest-12' WHERE id = 1;
