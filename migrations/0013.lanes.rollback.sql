DROP INDEX outbox_waiting_idx;
ALTER TABLE outbox DROP COLUMN waits_for;
ALTER TABLE lanes DROP COLUMN probe_size;
ALTER TABLE lanes DROP COLUMN probe_until;
ALTER TABLE lanes DROP COLUMN timed_out;
ALTER TABLE lanes DROP COLUMN trouble;
ALTER TABLE routes DROP COLUMN may_have_arrived;
