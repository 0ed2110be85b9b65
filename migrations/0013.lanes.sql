-- depends: 0012.queues
-- A route that ended without being published although the answer to one of its attempts was lost. It is a dead letter, or its reader was
-- told in another way; "cancelled" would say that nothing was sent.
ALTER TABLE routes ADD COLUMN may_have_arrived boolean NOT NULL DEFAULT false;
ALTER TABLE routes ADD CONSTRAINT routes_doubt_is_told CHECK (NOT may_have_arrived OR status IN ('dead_letter', 'skipped'));

-- A lane that recovers is tried by one worker at a time, with as many messages as it took well before. `trouble` is what closed it:
-- pauses grow with each time for the same trouble, and begin anew with another.
ALTER TABLE lanes ADD COLUMN trouble text NOT NULL DEFAULT '';
ALTER TABLE lanes ADD COLUMN timed_out boolean NOT NULL DEFAULT false;
ALTER TABLE lanes ADD COLUMN probe_until timestamptz;
ALTER TABLE lanes ADD COLUMN probe_size smallint NOT NULL DEFAULT 1 CHECK (probe_size > 0);
COMMENT ON COLUMN lanes.probe_until IS 'somebody is trying the lane; who dies with it holds it up until then';
COMMENT ON COLUMN lanes.probe_size IS 'how many messages may go at once while the lane recovers';

-- What waits for a lane is found by it when the lane reopens before its time. Written only where due_at changes anyway, so that claims
-- stay HOT.
ALTER TABLE outbox ADD COLUMN waits_for text;
CREATE INDEX outbox_waiting_idx ON outbox (waits_for, tenant_id, due_at) WHERE waits_for IS NOT NULL;
