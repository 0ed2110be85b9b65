-- depends: 0008.ways
-- The hash that stands for an address within a tenant and channel: a suppression stays effective when the address is erased, and tells
-- nothing about other tenants.
CREATE FUNCTION tocsin_address_hash(tenant_id uuid, channel text, address text) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN sha256(convert_to(tenant_id::text || '|' || channel || '|' || lower(address), 'UTF8'));

-- Whom not to write to. Without a type it holds for everything on the channel; an unsubscribe holds for one type.
CREATE TABLE suppressions (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    channel text NOT NULL CHECK (channel IN ('email', 'sms')),
    address text,
    address_hash bytea NOT NULL CHECK (octet_length(address_hash) = 32),
    notification_type text NOT NULL DEFAULT '',
    reason text NOT NULL CHECK (reason IN ('hard_bounce', 'soft_bounces', 'complaint', 'unsubscribe', 'opted_out', 'manual')),
    source_notification_id uuid,
    expires_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT tocsin_now()
);
-- the gate: is this address suppressed? and one row per reason's reach
CREATE UNIQUE INDEX suppressions_address_idx ON suppressions (tenant_id, channel, address_hash, notification_type);
CREATE INDEX suppressions_listing_idx ON suppressions (tenant_id, created_at DESC, id DESC);
CREATE INDEX suppressions_expiry_idx ON suppressions (expires_at) WHERE expires_at IS NOT NULL;

-- What providers told us later, each event once. Without a route it is an orphan: kept for a while, changing nothing.
CREATE TABLE provider_events (
    event_key bytea PRIMARY KEY CHECK (octet_length(event_key) = 32),
    tenant_id uuid,
    provider text NOT NULL,
    kind text NOT NULL,
    feedback text NOT NULL
        CHECK (feedback IN ('none', 'delayed', 'delivered', 'soft_bounced', 'hard_bounced', 'complained')),
    notification_id uuid,
    route_id text,
    generation smallint,
    attempt_no smallint,
    provider_message_id text NOT NULL DEFAULT '',
    address_hash bytea,
    detail text NOT NULL DEFAULT '',
    occurred_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL
);
-- a notification's timeline
CREATE INDEX provider_events_route_idx ON provider_events (notification_id, route_id) WHERE notification_id IS NOT NULL;
-- counting an address's soft bounces
CREATE INDEX provider_events_soft_idx ON provider_events (tenant_id, address_hash, occurred_at) WHERE feedback = 'soft_bounced';
-- retention
CREATE INDEX provider_events_received_idx ON provider_events (received_at);

-- Who changed what. Nobody may change or delete a row but retention.
CREATE TABLE audit_logs (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    resource_type text NOT NULL,
    resource_id text NOT NULL,
    ip_address inet,
    user_agent text,
    changes jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT tocsin_now()
);
CREATE INDEX audit_logs_listing_idx ON audit_logs (tenant_id, created_at DESC, id DESC);
CREATE INDEX audit_logs_created_idx ON audit_logs (created_at);

ALTER TABLE suppressions ENABLE ROW LEVEL SECURITY;
ALTER TABLE suppressions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON suppressions TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON suppressions TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
ALTER TABLE provider_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE provider_events FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON provider_events FOR SELECT TO tocsin_app USING (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON provider_events TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
ALTER TABLE audit_logs ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_logs FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON audit_logs TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON audit_logs TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON suppressions TO tocsin_app;
GRANT SELECT, INSERT, UPDATE ON suppressions TO tocsin_worker;
GRANT SELECT, DELETE, UPDATE (expires_at) ON suppressions TO tocsin_retention;
GRANT SELECT ON provider_events TO tocsin_app;
GRANT SELECT, INSERT ON provider_events TO tocsin_worker;
GRANT SELECT, DELETE, UPDATE (detail) ON provider_events TO tocsin_retention;
GRANT SELECT, INSERT ON audit_logs TO tocsin_app;
GRANT SELECT, DELETE, UPDATE (changes) ON audit_logs TO tocsin_retention;
