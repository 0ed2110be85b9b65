-- depends: 0019.webhooks
-- Small JSON values that producers keep here. A write's id names the state it made, and never comes again: it is the ETag, and by
-- it a write that is repeated after a lost answer is recognised. Keys are in the order of their bytes, wherever the database is.
CREATE TABLE kv_entries (
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    collection text COLLATE "C" NOT NULL CHECK (char_length(collection) BETWEEN 1 AND 100),
    key text COLLATE "C" NOT NULL CHECK (char_length(key) BETWEEN 1 AND 200),
    value jsonb NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    write_id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now(),
    PRIMARY KEY (tenant_id, collection, key),
    -- 64 KiB as they are sent; the rest is for spaces. Only numbers grow beyond it: 1e308 is kept with all its noughts.
    CONSTRAINT kv_entries_value_bound CHECK (octet_length(value::text) <= 131072)
) WITH (fillfactor = 80);
COMMENT ON COLUMN kv_entries.version IS '1 when the key is new, and one more with each write';

-- How many entries a tenant has; the constraint refuses the one too many, whoever else writes at the same moment.
CREATE TABLE kv_usage (
    tenant_id uuid PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
    entries integer NOT NULL CHECK (entries >= 0),
    max_entries integer NOT NULL,
    CONSTRAINT kv_usage_within_bound CHECK (entries <= max_entries)
) WITH (fillfactor = 50);

-- What a trigger runs. It has an id of its own, so that several triggers can share it and filters can name it.
CREATE TABLE trigger_handlers (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('intent', 'webhook', 'lambda')),
    config jsonb NOT NULL,
    secret bytea,
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now(),
    CONSTRAINT trigger_handlers_signed CHECK ((kind = 'webhook') = (secret IS NOT NULL))
);
COMMENT ON COLUMN trigger_handlers.config IS 'intent: the templated intent; webhook: url and timeout; lambda: the ARN of the function';
CREATE INDEX trigger_handlers_tenant_idx ON trigger_handlers (tenant_id);

-- The common part of every trigger. A further kind needs a detail table of its own and a wider CHECK here, nothing else.
CREATE TABLE triggers (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    handler_id uuid NOT NULL REFERENCES trigger_handlers (id) ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('kv', 'dead_letter')),
    name text NOT NULL DEFAULT '' CHECK (char_length(name) <= 100),
    enabled boolean NOT NULL DEFAULT true,
    dispatch_mode text NOT NULL DEFAULT 'async' CHECK (dispatch_mode IN ('sync', 'async')),
    retry_max_attempts smallint NOT NULL CHECK (retry_max_attempts BETWEEN 1 AND 20),
    retry_backoff text NOT NULL CHECK (retry_backoff IN ('exponential', 'linear', 'constant')),
    retry_base_ms integer NOT NULL CHECK (retry_base_ms BETWEEN 100 AND 3600000),
    registered_by_principal uuid NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now()
);
CREATE INDEX triggers_enabled_idx ON triggers (tenant_id, kind) WHERE enabled;
CREATE INDEX triggers_listing_idx ON triggers (tenant_id, id);
CREATE INDEX triggers_handler_idx ON triggers (handler_id);
CREATE INDEX triggers_principal_idx ON triggers (registered_by_principal);

CREATE TABLE kv_trigger_details (
    trigger_id uuid PRIMARY KEY REFERENCES triggers (id) ON DELETE CASCADE,
    tenant_id uuid NOT NULL,
    collection_glob text NOT NULL CHECK (char_length(collection_glob) BETWEEN 1 AND 100),
    ops text[] NOT NULL CHECK (ops <@ ARRAY['insert', 'update', 'delete'])
);
COMMENT ON COLUMN kv_trigger_details.collection_glob IS 'any collection: *, one: its name, those with a prefix: prefix:*';
COMMENT ON COLUMN kv_trigger_details.ops IS 'empty: any';

CREATE TABLE dead_letter_trigger_details (
    trigger_id uuid PRIMARY KEY REFERENCES triggers (id) ON DELETE CASCADE,
    tenant_id uuid NOT NULL,
    source_filter text CHECK (source_filter IN ('plan', 'deliver', 'fanout', 'webhook', 'trigger')),
    trigger_id_filter uuid,
    script_id_filter uuid
);
COMMENT ON COLUMN dead_letter_trigger_details.source_filter IS 'the kind of work that died; NULL, here and below: any';
COMMENT ON COLUMN dead_letter_trigger_details.script_id_filter IS 'the handler (trigger_handlers.id) whose run died';

CREATE FUNCTION tocsin_glob_matches(glob text, collection text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN right(glob, 1) = '*' THEN starts_with(collection, left(glob, -1)) ELSE glob = collection END $$;

-- The id that a run's payload has under a name; NULL where it has none, or something else.
CREATE FUNCTION tocsin_id_in(payload jsonb, name text) RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN pg_input_is_valid(payload ->> name, 'uuid') THEN (payload ->> name)::uuid END $$;

-- The triggers that a change of a collection fires, if a key of the same mode registered them: what a test key does stays a test.
CREATE FUNCTION tocsin_matching_kv_triggers(whose uuid, changed text, op text, in_mode text)
    RETURNS TABLE (
        trigger_id uuid, queue text, max_attempts smallint, retry_backoff text, retry_base_ms integer, principal_id uuid)
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT triggers.id, CASE handler.kind WHEN 'webhook' THEN 'webhook' ELSE 'trigger' END, triggers.retry_max_attempts,
           triggers.retry_backoff, triggers.retry_base_ms, triggers.registered_by_principal
    FROM triggers
    JOIN kv_trigger_details AS wanted ON wanted.trigger_id = triggers.id
    JOIN trigger_handlers AS handler ON handler.id = triggers.handler_id
    JOIN api_keys AS registrar ON registrar.id = triggers.registered_by_principal AND registrar.mode = in_mode
    WHERE triggers.tenant_id = whose AND triggers.kind = 'kv' AND triggers.enabled
      AND tocsin_glob_matches(wanted.collection_glob, changed) AND (wanted.ops = '{}' OR op = ANY(wanted.ops))
$$;

-- Whose run it was, for filters and replays. (No foreign key: the letter outlives the trigger.)
ALTER TABLE dead_letters ADD COLUMN trigger_id uuid, ADD COLUMN handler_id uuid;

-- Whatever writes a dead letter, in whichever statement, fires the triggers that wait for it; those of its own mode, as above. What
-- such a trigger itself has sent (its key begins so, and no producer's own is as deep) fires none: one letter never becomes many.
CREATE FUNCTION tocsin_fire_dead_letter_triggers() RETURNS trigger
    LANGUAGE plpgsql
AS $$
DECLARE
    in_mode text;
BEGIN
    IF NOT EXISTS (SELECT FROM triggers WHERE tenant_id = NEW.tenant_id AND kind = 'dead_letter' AND enabled) THEN
        RETURN NULL;
    END IF;
    IF EXISTS (
        SELECT FROM records
        WHERE tenant_id = NEW.tenant_id AND notification_id = NEW.notification_id AND idempotency_key LIKE 'letter:%'
          AND trigger_depth > 0
    ) THEN
        RETURN NULL;
    END IF;
    in_mode := COALESCE(
        (SELECT mode FROM records WHERE tenant_id = NEW.tenant_id AND notification_id = NEW.notification_id),
        (SELECT mode FROM domain_events WHERE tenant_id = NEW.tenant_id AND notification_id = NEW.notification_id LIMIT 1),
        (SELECT mode FROM api_keys WHERE tenant_id = NEW.tenant_id AND id = NEW.principal_id),
        (SELECT payload -> 'data' ->> 'mode' FROM webhook_deliveries WHERE tenant_id = NEW.tenant_id AND id = NEW.outbox_id),
        'live');
    INSERT INTO outbox (
        id, tenant_id, source_kind, queue, payload, due_at, max_attempts, retry_backoff, retry_base_ms, principal_id,
        trigger_depth)
    SELECT tocsin_uuid7(), triggers.tenant_id, 'trigger', CASE handler.kind WHEN 'webhook' THEN 'webhook' ELSE 'trigger' END,
           jsonb_build_object('trigger_id', triggers.id, 'dead_letter_id', NEW.id), tocsin_now(), triggers.retry_max_attempts,
           triggers.retry_backoff, triggers.retry_base_ms, triggers.registered_by_principal, NEW.trigger_depth + 1
    FROM triggers
    JOIN dead_letter_trigger_details AS wanted ON wanted.trigger_id = triggers.id
    JOIN trigger_handlers AS handler ON handler.id = triggers.handler_id
    JOIN api_keys AS registrar ON registrar.id = triggers.registered_by_principal AND registrar.mode = in_mode
    WHERE triggers.tenant_id = NEW.tenant_id AND triggers.kind = 'dead_letter' AND triggers.enabled
      AND (wanted.source_filter = NEW.source_kind) IS NOT FALSE
      AND (wanted.trigger_id_filter IS NULL OR wanted.trigger_id_filter = NEW.trigger_id)
      AND (wanted.script_id_filter IS NULL OR wanted.script_id_filter = NEW.handler_id);
    RETURN NULL;
END
$$;
CREATE TRIGGER fire_dead_letter_triggers AFTER INSERT ON dead_letters
    FOR EACH ROW EXECUTE FUNCTION tocsin_fire_dead_letter_triggers();

ALTER TABLE kv_entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE kv_entries FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON kv_entries TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON kv_entries TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON kv_entries TO tocsin_app;

ALTER TABLE kv_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE kv_usage FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON kv_usage TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON kv_usage TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON kv_usage TO tocsin_app;

ALTER TABLE trigger_handlers ENABLE ROW LEVEL SECURITY;
ALTER TABLE trigger_handlers FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON trigger_handlers TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON trigger_handlers TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON trigger_handlers TO tocsin_app;
GRANT SELECT ON trigger_handlers TO tocsin_worker;

ALTER TABLE triggers ENABLE ROW LEVEL SECURITY;
ALTER TABLE triggers FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON triggers TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON triggers TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON triggers TO tocsin_app;
GRANT SELECT ON triggers TO tocsin_worker;

ALTER TABLE kv_trigger_details ENABLE ROW LEVEL SECURITY;
ALTER TABLE kv_trigger_details FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON kv_trigger_details TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON kv_trigger_details TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON kv_trigger_details TO tocsin_app;
GRANT SELECT ON kv_trigger_details TO tocsin_worker;

ALTER TABLE dead_letter_trigger_details ENABLE ROW LEVEL SECURITY;
ALTER TABLE dead_letter_trigger_details FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON dead_letter_trigger_details TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON dead_letter_trigger_details TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON dead_letter_trigger_details TO tocsin_app;
GRANT SELECT ON dead_letter_trigger_details TO tocsin_worker;

-- A door that refuses what comes out of a loop tells the tenant's operators.
GRANT INSERT ON admin_system_events TO tocsin_app;

-- The worker notes what a handler made of a letter, and what it sends on somebody's behalf it accepts like any door.
GRANT UPDATE (resolution, resolved_at, resolved_by) ON dead_letters TO tocsin_worker;
GRANT SELECT, INSERT, UPDATE ON rate_limits TO tocsin_worker;
