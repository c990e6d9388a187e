-- The paths that the index has, without reading what it knows of each.

CREATE INDEX indexed_path ON indexed (path);
