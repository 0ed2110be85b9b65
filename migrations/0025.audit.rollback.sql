DROP TRIGGER api_keys_end_with_owner ON api_keys;
DROP FUNCTION tocsin_revoke_without_owner();
DROP TRIGGER audit_logs_unaltered ON audit_logs;
DROP FUNCTION tocsin_keep_audit();
DROP TRIGGER audit_logs_chain ON audit_logs;
DROP FUNCTION tocsin_chain_audit();
DROP FUNCTION tocsin_audit_hash(audit_logs, bytea);
DROP FUNCTION tocsin_audit_user_digest(uuid, uuid);
DROP TABLE audit_heads;
ALTER TABLE audit_logs
    DROP COLUMN hash,
    DROP COLUMN previous_hash,
    DROP COLUMN seq,
    DROP COLUMN user_digest,
    DROP COLUMN user_id;
