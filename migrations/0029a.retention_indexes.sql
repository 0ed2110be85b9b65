-- transactional: false
-- depends: 0029.retention
-- Retention looks tenant by tenant, so that one who keeps things for ten years is not walked over for all the others: its indexes begin
-- with the tenant. Where a list already has such an index, the one by time alone goes without a successor; those of records,
-- letters and events stay, for the books and the roll-up, which look at all tenants by time.
CREATE INDEX CONCURRENTLY IF NOT EXISTS dead_letters_resolved_at_idx ON dead_letters (tenant_id, resolved_at) WHERE resolved_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS notifications_kept_idx ON notifications (tenant_id, last_event_at);
CREATE INDEX CONCURRENTLY IF NOT EXISTS notifications_hidden_idx ON notifications (tenant_id, deleted_at) WHERE deleted_at IS NOT NULL;
-- by an expression, so that the caps, which ask for one person's last hour, are never answered from here
CREATE INDEX CONCURRENTLY IF NOT EXISTS notification_email_log_kept_idx
    ON notification_email_log (tenant_id, (sent_at AT TIME ZONE 'UTC'));
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_deliveries_kept_idx ON webhook_deliveries (tenant_id, created_at);
CREATE INDEX CONCURRENTLY IF NOT EXISTS domain_events_kept_idx ON domain_events (tenant_id, recorded_at);
CREATE INDEX CONCURRENTLY IF NOT EXISTS devices_disabled_idx ON devices ((COALESCE(disabled_at, last_seen_at))) WHERE NOT enabled;
CREATE INDEX CONCURRENTLY IF NOT EXISTS api_keys_replaced_by_idx ON api_keys (replaced_by) WHERE replaced_by IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS provider_events_orphans_idx ON provider_events (received_at) WHERE tenant_id IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS malformed_intents_recorded_idx;
DROP INDEX CONCURRENTLY IF EXISTS abandoned_executions_abandoned_idx;
DROP INDEX CONCURRENTLY IF EXISTS notifications_last_event_idx;
DROP INDEX CONCURRENTLY IF EXISTS notifications_deleted_idx;
DROP INDEX CONCURRENTLY IF EXISTS notification_email_log_sent_idx;
DROP INDEX CONCURRENTLY IF EXISTS webhook_deliveries_created_idx;
DROP INDEX CONCURRENTLY IF EXISTS audit_logs_created_idx;
