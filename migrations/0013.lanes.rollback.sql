ALTER TABLE routes DROP COLUMN may_have_arrived;
