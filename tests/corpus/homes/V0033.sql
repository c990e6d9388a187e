INSERT INTO refinery_schema_history VALUES (33, 'health', '2025-11-10T08:53:20Z', '2531670475404048407');

INSERT INTO health_changes VALUES (1, 'telegram', 'ill', 1762764800000);
