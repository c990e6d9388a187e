-- What nobody asked for: when it may disturb its person, and where it goes.

ALTER TABLE outbox ADD COLUMN urgency TEXT NOT NULL DEFAULT 'asked'; -- asked (an answer, which stays for its address), rings, silent, kept
ALTER TABLE outbox ADD COLUMN repeated INTEGER NOT NULL DEFAULT 0;   -- 1 if some of it may have been seen at an earlier address
ALTER TABLE people ADD COLUMN zone TEXT NOT NULL DEFAULT '';         -- own time zone; blank for the one of the home
ALTER TABLE people ADD COLUMN quiet_hours TEXT NOT NULL DEFAULT '22:00-07:00'; -- local times of day without disturbance; blank for none

UPDATE outbox SET urgency = 'silent' WHERE state = 'pending' AND kind = 'notice' AND quotes = '';
