-- What an owner said of the arguments of a tool when they accepted it.
ALTER TABLE outside_tools ADD COLUMN marks TEXT NOT NULL DEFAULT ''; -- JSON: kind of each argument, and whether the tool is a search; blank until an owner was shown it
