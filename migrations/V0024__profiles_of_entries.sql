-- A search in the memory of an agent covers its profile, whose name is a word of the index now: the files of all
-- profiles are read again.

UPDATE indexed SET stamp = '' WHERE path LIKE '//experience/%';
