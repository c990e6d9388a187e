-- A mark belongs to the lines that came from outside, and ends with them.
ALTER TABLE files ADD COLUMN passages TEXT NOT NULL DEFAULT ''; -- runs of lines, one a line: how many, and their label; blank if all have that of the file
