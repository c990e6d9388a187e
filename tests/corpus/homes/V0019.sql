INSERT INTO refinery_schema_history VALUES (19, 'heartbeat', '2025-10-27T08:53:20Z', '7847411173580285524');

INSERT INTO heartbeats (id, person_id, checked_at, next_at, ran_at, inputs, quiet) VALUES (1, 1, 1760700000000, 1760703600000, 1760700000000, 'digest-10', 2);
INSERT INTO heartbeat_ticks (id, person_id, digest, turn_id, ticked_at) VALUES (1, 1, 'digest-11', 3, 1760700001000);
