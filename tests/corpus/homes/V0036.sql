UPDATE outside_tools SET marks = '{"arguments":{"path":"destination"},"search":false}' WHERE id = 1;
