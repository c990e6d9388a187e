-- Health over time: one row for each change of a part.

CREATE TABLE health_changes (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,            -- row id
    part  TEXT NOT NULL,                                -- program, model, or the name of a channel
    state TEXT NOT NULL,                                -- state from then on: well, ill or off
    at    INTEGER NOT NULL                              -- time of the change
) STRICT;
CREATE INDEX health_changes_part ON health_changes (part, at);
