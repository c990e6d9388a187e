INSERT INTO refinery_schema_history VALUES (17, 'edits_shown', '2025-10-25T08:53:20Z', '6173363889022557231');

INSERT INTO texts (id, message_id, kind, text, label, scope, shown_to) VALUES (8, 1, 'edit', 'The orchard is ours', 'trusted', 'person:1', 3);
