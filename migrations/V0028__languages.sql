-- The language in which a person is addressed, and what they chose themselves.

ALTER TABLE people ADD COLUMN language TEXT NOT NULL DEFAULT '';         -- code of the language from the configuration; blank for none
ALTER TABLE people ADD COLUMN channel_language TEXT NOT NULL DEFAULT ''; -- code of the language that their channel told last; blank for none
ALTER TABLE people ADD COLUMN own_language TEXT NOT NULL DEFAULT '';     -- code of the language that they chose; blank for none
ALTER TABLE people ADD COLUMN own_zone TEXT NOT NULL DEFAULT '';         -- time zone that they chose; blank for none
