INSERT INTO refinery_schema_history VALUES (10, 'people_codes', '2025-10-18T08:53:20Z', '825943519967931888');

UPDATE pairing_codes SET issuer_id = 1, person_id = 2 WHERE id = 1;
INSERT INTO people (id, name, role, declared, created_at, removed_at, ended, namesake_id) VALUES
    (4, 'cat', 'member', 'pairing', 1760500000000, 1760500100000, 'joined', 3);
INSERT INTO declared_addresses (id, person_id, adapter, peer) VALUES (1, 2, 'telegram', '8');
