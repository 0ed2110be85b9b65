-- transactional: false
-- depends: 0029a.retention_indexes
-- Retention's indexes begin with the tenant, as those by person and by address do. While a table is all but empty every one of
-- them costs the same, and a plan that was made then, and is kept, reads all that a tenant has, each time, when it no longer is:
-- the caps did, of the log. What these two say besides is said by retention alone, so that nobody else is answered from them: of
-- the log something that is true of every row, of the inbox that a row has no end of its own.
DROP INDEX CONCURRENTLY IF EXISTS notification_email_log_age_idx;
CREATE INDEX CONCURRENTLY IF NOT EXISTS notification_email_log_age_idx
    ON notification_email_log (tenant_id, (sent_at AT TIME ZONE 'UTC')) WHERE id > 0;
DROP INDEX CONCURRENTLY IF EXISTS notification_email_log_kept_idx;
DROP INDEX CONCURRENTLY IF EXISTS notifications_age_idx;
CREATE INDEX CONCURRENTLY IF NOT EXISTS notifications_age_idx ON notifications (tenant_id, last_event_at) WHERE expires_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS notifications_kept_idx;
