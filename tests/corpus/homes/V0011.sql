INSERT INTO refinery_schema_history VALUES (11, 'skills_by_hand', '2025-10-19T08:53:20Z', '1837149571705061438');

UPDATE skills SET version_id = 1 WHERE name = 'pruning';
UPDATE skill_versions SET hosts = 'example.org' WHERE id = 1;
