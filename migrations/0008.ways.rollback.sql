DELETE FROM lanes WHERE state IN ('failing', 'broken');
ALTER TABLE lanes DROP COLUMN failures;
ALTER TABLE lanes DROP CONSTRAINT lanes_state_check;
ALTER TABLE lanes ADD CONSTRAINT lanes_state_check CHECK (state IN ('slowed', 'stopped'));
DROP TABLE provider_configs;
