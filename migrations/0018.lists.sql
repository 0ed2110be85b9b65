-- depends: 0017.universal
-- Lists of notifications are newest first by the time of the record. A route carries that time too, so that what one person got, and what
-- ended in one way or went by one channel, is one stretch of an index and its first page costs the same whatever lies behind it. (The
-- default is for code that does not know the column yet.)
ALTER TABLE routes ADD COLUMN accepted_at timestamptz NOT NULL DEFAULT tocsin_now();
COMMENT ON COLUMN routes.accepted_at IS 'the record''s; it never changes';
ALTER TABLE records NO FORCE ROW LEVEL SECURITY;  -- the owner has no policy of its own, and would find nothing to fill in
ALTER TABLE routes NO FORCE ROW LEVEL SECURITY;
UPDATE routes SET accepted_at = records.accepted_at FROM records WHERE records.notification_id = routes.notification_id;
ALTER TABLE records FORCE ROW LEVEL SECURITY;
ALTER TABLE routes FORCE ROW LEVEL SECURITY;

-- what somebody got; also somebody who is no user (any more)
CREATE INDEX routes_recipient_idx ON routes (tenant_id, recipient_ref, accepted_at DESC, notification_id DESC);
-- what went by a channel
CREATE INDEX routes_channel_idx ON routes (tenant_id, channel, accepted_at DESC, notification_id DESC);
-- What ended in another way than it should. By the times and not by the status: settling what is published (nearly all) changes no
-- column of any index, so that it stays a HOT update. What is unfinished is in the outbox.
CREATE INDEX routes_ended_idx ON routes (
    tenant_id,
    (CASE WHEN dead_lettered_at IS NOT NULL THEN 'dead_letter' WHEN skipped_at IS NOT NULL THEN 'skipped'
          WHEN cancelled_at IS NOT NULL THEN 'cancelled' END),
    channel, accepted_at DESC, notification_id DESC)
    WHERE CASE WHEN dead_lettered_at IS NOT NULL THEN 'dead_letter' WHEN skipped_at IS NOT NULL THEN 'skipped'
               WHEN cancelled_at IS NOT NULL THEN 'cancelled' END IS NOT NULL;

-- Room for the second version of every row on its own page: without it two settlements in three would write to all indexes after all.
ALTER TABLE routes SET (fillfactor = 45);

-- Nothing read these.
DROP INDEX routes_due_idx;
DROP INDEX routes_status_idx;
DROP INDEX routes_user_idx;
DROP INDEX audit_logs_listing_idx;

-- Erasing a person looks for what refers to them. Their keys are few and found by an index. Inbox rows that name them as the last to act
-- are many, and looking the actor up was part of the cost of every row that is written: there the id may lead nowhere, and reads as nobody.
CREATE INDEX api_keys_user_idx ON api_keys (tenant_id, user_id) WHERE user_id IS NOT NULL;
ALTER TABLE notifications DROP CONSTRAINT notifications_tenant_id_last_actor_user_id_fkey;
