-- A recurring reminder or task may end after a certain time.

ALTER TABLE reminders ADD COLUMN until_at INTEGER; -- last moment at which a recurring one may be due; null for no end

-- Notes of the kind 'user' are read again, as 'person'.
UPDATE indexed SET stamp = '' WHERE path IN (SELECT path FROM entries WHERE category = 'user');
