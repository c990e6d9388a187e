-- A turn that ends the program each time it is worked on must have an end itself, whatever the clock says.
ALTER TABLE turns ADD COLUMN lives INTEGER NOT NULL DEFAULT 0; -- how often it was taken up again after it had been cut off
