INSERT INTO refinery_schema_history VALUES (30, 'web', '2025-11-07T08:53:20Z', '8746956208110354910');

INSERT INTO web_codes VALUES ('a1', 2, 'command_line', 1762505600000);
INSERT INTO web_sessions VALUES (1, 'b2', 2, 'member', 'chat', 'Firefox', 1762505600000, 1762505600000, 1765097600000, 1762505600000, 'dark', 0);
