UPDATE slots SET wish = 'told' WHERE id = (SELECT min(id) FROM slots);
UPDATE questions SET resumed_by = turn_id WHERE id = (SELECT min(id) FROM questions);
