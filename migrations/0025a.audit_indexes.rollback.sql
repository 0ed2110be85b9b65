ALTER TABLE audit_logs
    DROP CONSTRAINT audit_logs_user_fkey,
    ADD CONSTRAINT audit_logs_user_fkey
        FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE SET NULL (user_id) NOT VALID;
DROP INDEX audit_logs_resource_idx;
DROP INDEX audit_logs_action_idx;
DROP INDEX audit_logs_user_idx;
DROP INDEX audit_logs_actor_idx;
DROP INDEX audit_logs_listing_idx;
DROP INDEX audit_logs_unchained_idx;
DROP INDEX audit_logs_seq_idx;
