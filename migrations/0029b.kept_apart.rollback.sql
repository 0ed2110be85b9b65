CREATE INDEX CONCURRENTLY IF NOT EXISTS notifications_kept_idx ON notifications (tenant_id, last_event_at);
CREATE INDEX CONCURRENTLY IF NOT EXISTS notification_email_log_kept_idx
    ON notification_email_log (tenant_id, (sent_at AT TIME ZONE 'UTC'));
DROP INDEX CONCURRENTLY IF EXISTS notifications_age_idx;
DROP INDEX CONCURRENTLY IF EXISTS notification_email_log_age_idx;
