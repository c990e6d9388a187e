-- What a conversation begins with keeps the label of what it was made of.

ALTER TABLE conversations ADD COLUMN opening_label TEXT NOT NULL DEFAULT ''; -- where the opening came from; unknown while it is blank
-- Until now nothing else was taken than what has no source and no origin.
UPDATE conversations SET opening_label = 'trusted' WHERE opening <> '';
