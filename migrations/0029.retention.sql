-- depends: 0028a.routes_by_time
-- How many days a tenant keeps something by its own word (settings: {"retention": {"records_days": 30}}). NULL: it says nothing, or
-- something that makes no sense, and the installation's number holds.
CREATE FUNCTION tocsin_own_days(settings jsonb, rule text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN jsonb_typeof(settings -> 'retention' -> rule) = 'number'
                THEN CASE WHEN (settings -> 'retention' ->> rule)::numeric BETWEEN 1 AND 36500
                          THEN CASE WHEN (settings -> 'retention' ->> rule)::numeric % 1 = 0
                                    THEN (settings -> 'retention' ->> rule)::numeric::integer END END END;

-- How long each tenant keeps something: its own number of days, never fewer than is safe, else what holds for all. Retention then looks
-- tenant by tenant, each from its oldest row on: who keeps things longer is not in the way of the others.
CREATE FUNCTION tocsin_kept(rule text, general interval, at_least interval) RETURNS TABLE (tenant_id uuid, age interval)
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT tenants.id, CASE WHEN own.days IS NULL THEN general ELSE GREATEST(make_interval(days => own.days), at_least) END
    FROM tenants CROSS JOIN LATERAL (SELECT tocsin_own_days(tenants.settings, rule) AS days) AS own
$$;

-- Since when a device is off. (NULL where code that does not know the column switched it off: then it was last seen before.)
ALTER TABLE devices ADD COLUMN disabled_at timestamptz;

-- What was written to the archive before it was deleted. The object may hold records that are here still: whoever reads the archive
-- goes by notification_id.
CREATE TABLE archives (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    object_key text NOT NULL,
    records integer NOT NULL CHECK (records > 0),
    bytes integer NOT NULL,
    sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
    created_at timestamptz NOT NULL DEFAULT tocsin_now()
);
COMMENT ON COLUMN archives.bytes IS 'of the object as it is stored, compressed; sha256 is of the same';
-- the list, newest first; retention
CREATE INDEX archives_listing_idx ON archives (tenant_id, created_at DESC, id DESC);
CREATE INDEX archives_created_idx ON archives (created_at);

ALTER TABLE archives ENABLE ROW LEVEL SECURITY;
ALTER TABLE archives FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON archives TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON archives TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT ON archives TO tocsin_app;
GRANT SELECT, INSERT, DELETE, UPDATE (object_key) ON archives TO tocsin_retention;

-- What retention may now forget. Of keys and devices it sees when they ended, never their hashes and tokens.
GRANT SELECT (id, enabled, disabled_at, last_seen_at), UPDATE (disabled_at) ON devices TO tocsin_retention;
GRANT SELECT (id, revoked_at, expires_at, replaced_by), UPDATE (replaced_by) ON api_keys TO tocsin_retention;
GRANT SELECT (id, registered_by_principal) ON triggers TO tocsin_retention;
GRANT SELECT (id, is_active, updated_at), UPDATE (updated_at) ON templates TO tocsin_retention;
GRANT SELECT (collection, key, updated_at), UPDATE (updated_at) ON kv_entries TO tocsin_retention;
GRANT SELECT (entries), UPDATE (entries) ON kv_usage TO tocsin_retention;
GRANT UPDATE (reason) ON lanes TO tocsin_retention;  -- a lock asks for it
