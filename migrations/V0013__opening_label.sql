-- What a conversation begins with keeps the label of what it was made of: until now only text without a label to keep was taken.

ALTER TABLE conversations ADD COLUMN opening_label TEXT NOT NULL DEFAULT 'trusted'; -- where the opening came from
