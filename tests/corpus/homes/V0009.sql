INSERT INTO refinery_schema_history VALUES (9, 'workspace_owner', '2025-10-17T08:53:20Z', '13961362275698776182');

INSERT INTO workspace (id, owner_id) VALUES (1, 1);
UPDATE people SET folder = 'people/3-cat' WHERE id = 3;
