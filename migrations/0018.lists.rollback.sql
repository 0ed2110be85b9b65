ALTER TABLE notifications NO FORCE ROW LEVEL SECURITY;
ALTER TABLE users NO FORCE ROW LEVEL SECURITY;
UPDATE notifications SET last_actor_user_id = NULL
WHERE last_actor_user_id IS NOT NULL
  AND NOT EXISTS (SELECT FROM users WHERE users.tenant_id = notifications.tenant_id AND users.id = notifications.last_actor_user_id);
ALTER TABLE users FORCE ROW LEVEL SECURITY;
ALTER TABLE notifications FORCE ROW LEVEL SECURITY;
ALTER TABLE notifications ADD CONSTRAINT notifications_tenant_id_last_actor_user_id_fkey
    FOREIGN KEY (tenant_id, last_actor_user_id) REFERENCES users (tenant_id, id) ON DELETE SET NULL (last_actor_user_id);
DROP INDEX api_keys_user_idx;
CREATE INDEX audit_logs_listing_idx ON audit_logs (tenant_id, created_at DESC, id DESC);
CREATE INDEX routes_user_idx ON routes (tenant_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX routes_status_idx ON routes (tenant_id, status, channel) WHERE status <> 'published';
CREATE INDEX routes_due_idx ON routes (tenant_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
ALTER TABLE routes SET (fillfactor = 80);
DROP INDEX routes_ended_idx;
DROP INDEX routes_channel_idx;
DROP INDEX routes_recipient_idx;
ALTER TABLE routes DROP COLUMN accepted_at;
