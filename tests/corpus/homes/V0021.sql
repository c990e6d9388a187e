INSERT INTO refinery_schema_history VALUES (21, 'chosen_forgetting', '2025-10-29T08:53:20Z', '5501992625665015704');

INSERT INTO forgettings (id, person_id, kind, target, needles, messages, state, counts, choice, label, scope, wanted_at, ended_at) VALUES
    (2, 2, 'fact', '', '[]', 0, 'done', '{}', '{}', 'trusted', 'person:2', 1760800000000, 1760800001000);
