-- transactional: false
-- depends: 0030a.persons_index
-- Finding a notification by its idempotency key, whoever sent it and however long ago, and by the id that a provider gave it. A summary per
-- stretch of the table that knows which keys cannot be in it (BRIN, Bloom filters) and not a B-tree: intake and settling write to none
-- while the stretch is new, and settling stays a HOT update. The time beside the key is for the planner, which believes of a random key
-- alone that it may be anywhere. A stretch of 128 KiB holds some two hundred rows, and its filter half a kilobyte, below the size that Postgres would try to compress. A build that was cut off leaves an index that
-- nobody uses: the next run begins anew.
DROP INDEX CONCURRENTLY IF EXISTS records_key_idx;
CREATE INDEX CONCURRENTLY IF NOT EXISTS records_key_idx ON records USING brin (
    idempotency_key text_bloom_ops (n_distinct_per_range = 250, false_positive_rate = 0.001), accepted_at)
    WITH (pages_per_range = 16, autosummarize = on);
DROP INDEX CONCURRENTLY IF EXISTS routes_message_idx;
CREATE INDEX CONCURRENTLY IF NOT EXISTS routes_message_idx ON routes USING brin (
    provider_message_id text_bloom_ops (n_distinct_per_range = 250, false_positive_rate = 0.001), created_at)
    WITH (pages_per_range = 16, autosummarize = on);
-- What was sent to a bare address, newest first: of one that gets a lot, the first page costs what it shows. (Erasing a person reads
-- them too.)
DROP INDEX CONCURRENTLY IF EXISTS records_to_email_idx;
CREATE INDEX CONCURRENTLY IF NOT EXISTS records_to_email_idx
    ON records (tenant_id, address_email, accepted_at DESC, notification_id DESC) WHERE address_email IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS records_to_phone_idx;
CREATE INDEX CONCURRENTLY IF NOT EXISTS records_to_phone_idx
    ON records (tenant_id, address_phone, accepted_at DESC, notification_id DESC) WHERE address_phone IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS records_email_idx;
DROP INDEX CONCURRENTLY IF EXISTS records_phone_idx;
