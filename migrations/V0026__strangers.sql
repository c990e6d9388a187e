-- Strangers are shown to the owners by the name that the channel tells, which is kept for a week, and can be let in or
-- ignored.

ALTER TABLE strangers ADD COLUMN name TEXT NOT NULL DEFAULT '';          -- told by the channel, untrusted; blank after a week or once ignored
ALTER TABLE strangers ADD COLUMN told INTEGER NOT NULL DEFAULT 0;        -- lines sent to them on told_day
ALTER TABLE strangers ADD COLUMN announced_at INTEGER NOT NULL DEFAULT 0; -- when the owners were told; 0 for never
ALTER TABLE strangers ADD COLUMN ignored_at INTEGER NOT NULL DEFAULT 0;  -- when an owner ignored them; 0 for never
ALTER TABLE strangers ADD COLUMN is_group INTEGER NOT NULL DEFAULT 0;    -- 1 for a group, which is no stranger
UPDATE strangers SET told = 1;
UPDATE strangers SET is_group = 1 WHERE sender LIKE '-%' OR sender LIKE 'group:%';
CREATE INDEX strangers_told ON strangers (told_day);
CREATE INDEX strangers_announced ON strangers (announced_at) WHERE announced_at > 0;
