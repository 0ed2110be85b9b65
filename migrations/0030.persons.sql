-- depends: 0029b.kept_apart
-- Who sat before the key, as the caller says: a name beside the proof. The chain holds it where it is; a row without one has the hash
-- that it has always had, so that what was written before this migration, and by code that does not know it, still verifies.
ALTER TABLE audit_logs
    ADD COLUMN person text,
    ADD CONSTRAINT audit_logs_person_bound CHECK (char_length(person) BETWEEN 1 AND 100) NOT VALID;
COMMENT ON COLUMN audit_logs.person IS 'whom the caller named (Tocsin-Person); nobody checked it';

CREATE OR REPLACE FUNCTION tocsin_audit_hash(entry audit_logs, previous bytea) RETURNS bytea
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN sha256(previous || convert_to((jsonb_build_array(
        entry.id, entry.tenant_id, entry.actor, encode(entry.user_digest, 'hex'), entry.action, entry.resource_type, entry.resource_id,
        entry.ip_address::text, entry.user_agent, entry.changes, (extract(epoch FROM entry.created_at) * 1000000)::bigint
    ) || CASE WHEN entry.person IS NULL THEN '[]'::jsonb ELSE jsonb_build_array(entry.person) END)::text, 'UTF8'));
