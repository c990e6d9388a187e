-- A tool call that a rule refused, or that was put to the person instead, was not made.

ALTER TABLE steps ADD COLUMN made INTEGER NOT NULL DEFAULT 1; -- 0 for a tool call that was not made
