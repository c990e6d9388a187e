-- What a person agreed to word by word is theirs, for showing and framing. Its label stays.
ALTER TABLE reminders ADD COLUMN agreed_at INTEGER; -- its person agreed to exactly this text; null if it needed no yes
-- Until now a text from outside got here only with a yes to exactly this text.
UPDATE reminders SET agreed_at = created_at WHERE turn_id IS NOT NULL AND label <> 'trusted';
-- One message about a reflection, once it is settled what came of it.
ALTER TABLE reflections ADD COLUMN report TEXT; -- its owner is still to be told: changes (if something came of it), always; null for no
