-- The names go, and with them what the hashes of their rows were made of: verifying then names the first row that had one.
CREATE OR REPLACE FUNCTION tocsin_audit_hash(entry audit_logs, previous bytea) RETURNS bytea
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN sha256(previous || convert_to(jsonb_build_array(
        entry.id, entry.tenant_id, entry.actor, encode(entry.user_digest, 'hex'), entry.action, entry.resource_type, entry.resource_id,
        entry.ip_address::text, entry.user_agent, entry.changes, (extract(epoch FROM entry.created_at) * 1000000)::bigint
    )::text, 'UTF8'));
ALTER TABLE audit_logs DROP COLUMN person;
