UPDATE reminders SET agreed_at = created_at WHERE id = (SELECT min(id) FROM reminders);
UPDATE reflections SET report = 'changes' WHERE id = (SELECT min(id) FROM reflections);
