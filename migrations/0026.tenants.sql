-- depends: 0025a.audit_indexes
-- Tenants come and go by API; people are erased, with a receipt.
ALTER TABLE tenants
    ADD COLUMN status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended', 'deleting')),
    ADD COLUMN suspended_at timestamptz,
    ADD COLUMN suspended_reason text NOT NULL DEFAULT '' CHECK (char_length(suspended_reason) <= 500),
    ADD COLUMN deletion_requested_at timestamptz,
    ADD COLUMN updated_at timestamptz NOT NULL DEFAULT tocsin_now(),
    ADD CONSTRAINT tenants_suspended_at CHECK (status <> 'suspended' OR suspended_at IS NOT NULL),
    ADD CONSTRAINT tenants_deletion_requested_at CHECK ((status = 'deleting') = (deletion_requested_at IS NOT NULL));
COMMENT ON COLUMN tenants.status IS 'suspended: nothing is accepted or sent; deleting: refused like an unknown one until retention has removed it';
-- whoever claims work asks which tenants rest: nearly always none
CREATE INDEX tenants_resting_idx ON tenants (id) WHERE status <> 'active';

-- The application sees its own tenant; with the hash of a key, before its tenant is known, the tenant of that key; and in a
-- transaction of the installation all of them, and those alone: every other table goes by tocsin.tenant.
DROP POLICY own_tenant ON tenants;
CREATE POLICY own_tenant ON tenants FOR SELECT TO tocsin_app
    USING (CASE WHEN (SELECT tocsin_is_installation()) THEN true
                WHEN COALESCE(current_setting('tocsin.key_hash', true), '') <> ''
                THEN id = (SELECT api_keys.tenant_id FROM api_keys
                           WHERE api_keys.key_hash = decode(current_setting('tocsin.key_hash', true), 'hex'))
                ELSE id = (SELECT tocsin_tenant()) END);
CREATE POLICY of_the_installation ON tenants FOR INSERT TO tocsin_app
    WITH CHECK ((SELECT tocsin_is_installation()));
CREATE POLICY by_the_installation ON tenants FOR UPDATE TO tocsin_app
    USING ((SELECT tocsin_is_installation()))
    WITH CHECK ((SELECT tocsin_is_installation()));
GRANT INSERT ON tenants TO tocsin_app;
GRANT UPDATE (name, settings, status, suspended_at, suspended_reason, deletion_requested_at, updated_at) ON tenants TO tocsin_app;

-- Emails are looked up however they are written. A column of its own, because lower() is not leakproof: under row-level security an
-- index on lower(email) cannot be searched. Written by a trigger, so that it holds for whoever writes, the release before too.
ALTER TABLE users ADD COLUMN email_key text;
CREATE FUNCTION tocsin_email_key() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    NEW.email_key := lower(NEW.email);
    RETURN NEW;
END
$$;
CREATE TRIGGER email_key BEFORE INSERT OR UPDATE OF email, email_key ON users FOR EACH ROW EXECUTE FUNCTION tocsin_email_key();

-- The same for intents to a bare address, so that erasing a person finds them.
ALTER TABLE records ADD COLUMN address_email text, ADD COLUMN address_phone text;
CREATE FUNCTION tocsin_address_keys() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    NEW.address_email := lower(NEW.audience ->> 'email');
    NEW.address_phone := NEW.audience ->> 'phone';
    RETURN NEW;
END
$$;
CREATE TRIGGER address_keys BEFORE INSERT OR UPDATE OF audience, address_email ON records
    FOR EACH ROW WHEN (NEW.audience_kind = 'address') EXECUTE FUNCTION tocsin_address_keys();

-- What was erased, when and by whose wish: the receipt. Who it was is kept only until it is finished; then a hash is left.
CREATE TABLE erasures (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    kind text NOT NULL CHECK (kind IN ('user', 'tenant')),
    subject_hash bytea NOT NULL CHECK (octet_length(subject_hash) = 32),
    subject jsonb,
    position jsonb NOT NULL DEFAULT '{}',
    counts jsonb NOT NULL DEFAULT '{}',
    requested_by text NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT tocsin_now(),
    gone_at timestamptz,
    finished_at timestamptz,
    updated_at timestamptz NOT NULL DEFAULT tocsin_now(),
    CONSTRAINT erasures_forgotten CHECK ((finished_at IS NULL) = (subject IS NOT NULL))
);
COMMENT ON COLUMN erasures.gone_at IS 'when the user was deleted: whoever has the same id since is somebody else';
COMMENT ON COLUMN erasures.position IS 'how far a walk over a big table has come';
-- one under way for each: who asks twice gets the same receipt
CREATE UNIQUE INDEX erasures_running_idx ON erasures (tenant_id, kind, subject_hash) WHERE finished_at IS NULL;
-- the list of receipts; whatever is unfinished, oldest first; retention
CREATE INDEX erasures_listing_idx ON erasures (tenant_id, requested_at DESC, id DESC);
CREATE INDEX erasures_unfinished_idx ON erasures (requested_at) WHERE finished_at IS NULL;
CREATE INDEX erasures_finished_idx ON erasures (finished_at) WHERE finished_at IS NOT NULL;
ALTER TABLE erasures ENABLE ROW LEVEL SECURITY;
ALTER TABLE erasures FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON erasures TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON erasures TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON erasures TO tocsin_app;
GRANT SELECT, UPDATE, DELETE ON erasures TO tocsin_retention;

-- Erasing a person masks what speaks of them; whoever asked does most of it at once, retention what there was no time for.
GRANT UPDATE (error_message) ON attempts TO tocsin_app, tocsin_retention;
GRANT UPDATE (recipient_ref, failure_message, payload) ON dead_letters TO tocsin_app, tocsin_retention;
GRANT UPDATE (data, actor_user_id) ON domain_events TO tocsin_app, tocsin_retention;
GRANT UPDATE (detail) ON provider_events TO tocsin_app;
CREATE POLICY erasing ON provider_events FOR UPDATE TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
GRANT UPDATE (raw_fields, failure_message, idempotency_key) ON malformed_intents TO tocsin_app, tocsin_retention;
GRANT UPDATE (outcome) ON abandoned_executions TO tocsin_app;
GRANT UPDATE (description, details, user_id) ON admin_system_events TO tocsin_app, tocsin_retention;
GRANT UPDATE (payload) ON outbox TO tocsin_app, tocsin_retention;
GRANT DELETE ON notifications TO tocsin_app;
GRANT UPDATE (resolution_reason) ON dead_letters, malformed_intents, admin_system_events TO tocsin_retention;
GRANT UPDATE (arguments) ON jobs TO tocsin_retention;
GRANT UPDATE ON records, routes, suppressions TO tocsin_retention;
GRANT UPDATE (payload, response_body) ON webhook_deliveries TO tocsin_retention;
-- what it ends, it tells of
GRANT INSERT ON outbox, webhook_deliveries, abandoned_executions TO tocsin_retention;
GRANT UPDATE (updated_at) ON webhooks TO tocsin_retention;

-- A tenant is deleted with everything, by the one role that may: big tables in batches, the rest at once and unread (of what holds
-- secrets and words it sees whose it is).
GRANT SELECT (tenant_id, id), DELETE ON users TO tocsin_retention;
GRANT SELECT (tenant_id), DELETE ON api_keys, devices, event_routing, kv_entries, kv_usage, kv_trigger_details,
    dead_letter_trigger_details, notification_reads, notification_types, preferences, provider_configs, templates,
    trigger_handlers, triggers, watches, webhooks TO tocsin_retention;
GRANT DELETE ON tenants, audit_heads TO tocsin_retention;
