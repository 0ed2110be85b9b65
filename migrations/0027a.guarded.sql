-- transactional: false
-- depends: 0027.guards
-- What one address got of a type lately. Few rows have a hash, but the log may be long: it is built while it is written. (What a run
-- that was killed left behind is dropped first.)
DROP INDEX CONCURRENTLY IF EXISTS notification_email_log_address_idx;
CREATE INDEX CONCURRENTLY IF NOT EXISTS notification_email_log_address_idx
    ON notification_email_log (tenant_id, address_hash, notification_type, sent_at DESC) WHERE address_hash IS NOT NULL;
