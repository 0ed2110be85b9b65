-- transactional: false
-- depends: 0025.audit
-- The audit log may be long and is written all the time: its indexes are built beside the writers.
-- the chain, in its order
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS audit_logs_seq_idx ON audit_logs (tenant_id, seq);
-- what stands outside of it: rows from before, and none besides
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_logs_unchained_idx ON audit_logs (tenant_id, created_at) WHERE seq IS NULL;
-- lists, newest first: of all, of one actor or person, of one kind of act, of what became of one thing
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_logs_listing_idx ON audit_logs (tenant_id, created_at DESC, id DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_logs_actor_idx ON audit_logs (tenant_id, actor, created_at DESC, id DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_logs_user_idx ON audit_logs (tenant_id, user_id, created_at DESC, id DESC) WHERE user_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_logs_action_idx ON audit_logs (tenant_id, action, created_at DESC, id DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_logs_resource_idx
    ON audit_logs (tenant_id, resource_type, resource_id, created_at DESC, id DESC);
ALTER TABLE audit_logs VALIDATE CONSTRAINT audit_logs_user_fkey;
