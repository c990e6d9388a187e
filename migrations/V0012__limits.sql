-- A delivery that a server does not take, although it takes others, is set aside so that the queue goes on.
ALTER TABLE outbox ADD COLUMN failed_at INTEGER NOT NULL DEFAULT 0; -- newest failed try of its current part; 0 for none
ALTER TABLE outbox ADD COLUMN set_aside INTEGER NOT NULL DEFAULT 0; -- when it was set aside and can be sent again; 0 for not
ALTER TABLE outbox ADD COLUMN tells_of INTEGER NOT NULL DEFAULT 0; -- delivery that this notice says was set aside; 0 for none
CREATE INDEX outbox_set_aside ON outbox (id) WHERE set_aside > 0;
CREATE INDEX outbox_sent ON outbox (ended_at) WHERE state = 'sent';

-- A command that ends the program, or panics, must not hold up the commands behind it.
ALTER TABLE messages ADD COLUMN tries INTEGER NOT NULL DEFAULT 0; -- how often it was begun, if it is a command
