-- depends: 0024.operators
-- The audit log becomes a chain for each tenant: a row's hash is of what it says and of the hash before it, so that whoever alters,
-- removes or moves a row breaks the chain at that place. Rows from before this migration have no place in it (seq IS NULL).
ALTER TABLE audit_logs
    ADD COLUMN user_id uuid,
    ADD COLUMN user_digest bytea,
    ADD COLUMN seq bigint,
    ADD COLUMN previous_hash bytea,
    ADD COLUMN hash bytea,
    ADD CONSTRAINT audit_logs_user_fkey
        FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE SET NULL (user_id) NOT VALID;
COMMENT ON COLUMN audit_logs.user_id IS 'the person who acted, or who owns the key that did; gone with the person';
COMMENT ON COLUMN audit_logs.user_digest IS 'what the chain holds of user_id, so that erasing a person does not break it';

-- Where each tenant's chain ends, and where it begins now that retention has forgotten its first rows. The row is also the turn of
-- whoever writes: one after the other, from their audit row to their commit. (Room for its next version: it changes with every row.)
CREATE TABLE audit_heads (
    tenant_id uuid PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
    seq bigint NOT NULL,
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL,
    forgotten_seq bigint NOT NULL DEFAULT 0,
    forgotten_hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
    checked_seq bigint NOT NULL DEFAULT 0,
    checked_hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
    checked_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT tocsin_now()
) WITH (fillfactor = 50);
COMMENT ON COLUMN audit_heads.forgotten_seq IS 'the last row that retention forgot; with its hash, what the first remaining row follows';
COMMENT ON COLUMN audit_heads.checked_seq IS 'how far the scheduled check has come on its present walk';
COMMENT ON COLUMN audit_heads.checked_at IS 'when a walk last came to its end';

ALTER TABLE audit_heads ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_heads FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON audit_heads TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON audit_heads TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE (seq, previous_hash, hash) ON audit_heads TO tocsin_app, tocsin_worker;
GRANT SELECT, UPDATE (forgotten_seq, forgotten_hash, checked_seq, checked_hash, checked_at) ON audit_heads TO tocsin_retention;

CREATE FUNCTION tocsin_audit_user_digest(entry_id uuid, user_id uuid) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN sha256(uuid_send(entry_id) || uuid_send(user_id));

-- What a row says, written in one way whatever the session's settings, and what it follows. Its number is left out: a row that stands
-- elsewhere than it was written is still itself, and is told apart from one that was altered.
CREATE FUNCTION tocsin_audit_hash(entry audit_logs, previous bytea) RETURNS bytea
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN sha256(previous || convert_to(jsonb_build_array(
        entry.id, entry.tenant_id, entry.actor, encode(entry.user_digest, 'hex'), entry.action, entry.resource_type, entry.resource_id,
        entry.ip_address::text, entry.user_agent, entry.changes, (extract(epoch FROM entry.created_at) * 1000000)::bigint
    )::text, 'UTF8'));

-- The person first, as erasing one does, and the turn last, so that nobody waits for two others. A person who is gone is nobody.
CREATE FUNCTION tocsin_chain_audit() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    IF NEW.user_id IS NOT NULL THEN
        SELECT id INTO NEW.user_id FROM users WHERE tenant_id = NEW.tenant_id AND id = NEW.user_id FOR KEY SHARE;
    END IF;
    NEW.user_digest := tocsin_audit_user_digest(NEW.id, NEW.user_id);
    INSERT INTO audit_heads AS head (tenant_id, seq, previous_hash, hash)
    VALUES (NEW.tenant_id, 1, decode(repeat('00', 32), 'hex'), tocsin_audit_hash(NEW, decode(repeat('00', 32), 'hex')))
    ON CONFLICT (tenant_id) DO UPDATE
        SET seq = head.seq + 1, previous_hash = head.hash, hash = tocsin_audit_hash(NEW, head.hash)
    RETURNING head.seq, head.previous_hash, head.hash INTO NEW.seq, NEW.previous_hash, NEW.hash;
    RETURN NEW;
END
$$;
CREATE TRIGGER audit_logs_chain BEFORE INSERT ON audit_logs FOR EACH ROW EXECUTE FUNCTION tocsin_chain_audit();

-- Nobody alters a row; that a person is erased takes their id from it and nothing else.
CREATE FUNCTION tocsin_keep_audit() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'a row of the audit log is not altered' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_logs_unaltered BEFORE UPDATE ON audit_logs FOR EACH ROW
    WHEN (NEW.user_id IS NOT NULL OR (to_jsonb(OLD) - 'user_id') IS DISTINCT FROM (to_jsonb(NEW) - 'user_id'))
    EXECUTE FUNCTION tocsin_keep_audit();

-- A key ends with its owner: it is revoked, and stays as the author of what it made.
CREATE FUNCTION tocsin_revoke_without_owner() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    NEW.is_active := false;
    NEW.revoked_at := COALESCE(NEW.revoked_at, tocsin_now());
    RETURN NEW;
END
$$;
CREATE TRIGGER api_keys_end_with_owner BEFORE UPDATE OF user_id ON api_keys FOR EACH ROW
    WHEN (OLD.user_id IS NOT NULL AND NEW.user_id IS NULL)
    EXECUTE FUNCTION tocsin_revoke_without_owner();
