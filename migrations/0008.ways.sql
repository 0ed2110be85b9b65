-- depends: 0007.content
-- A tenant's own providers. The secrets are ciphertexts of the installation's key, bound to tenant and purpose: moved to another
-- row they cannot be read.
CREATE TABLE provider_configs (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    provider_name text NOT NULL CHECK (provider_name IN ('ses', 'sns', 'sendgrid', 'twilio', 'fcm')),
    channel text NOT NULL CHECK (channel IN ('email', 'sms', 'push')),
    api_key bytea,
    api_secret bytea,
    config_json jsonb NOT NULL DEFAULT '{}',
    is_active boolean NOT NULL DEFAULT true,
    rate_limit integer CHECK (rate_limit > 0),
    timeout_seconds integer NOT NULL DEFAULT 10 CHECK (timeout_seconds BETWEEN 1 AND 10),
    priority integer NOT NULL DEFAULT 0,
    tokens double precision NOT NULL DEFAULT 0,
    tokens_at timestamptz NOT NULL DEFAULT tocsin_now(),
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now()
) WITH (fillfactor = 70);
COMMENT ON COLUMN provider_configs.tokens IS 'the token bucket of rate_limit (per minute), as it was at tokens_at';
-- dispatch: the providers of these tenants
CREATE INDEX provider_configs_tenant_idx ON provider_configs (tenant_id, channel, priority DESC);

-- A lane may also be broken: failing so often that it is passed over for a while. Until then its failures are counted.
ALTER TABLE lanes DROP CONSTRAINT lanes_state_check;
ALTER TABLE lanes ADD CONSTRAINT lanes_state_check CHECK (state IN ('failing', 'slowed', 'broken', 'stopped'));
ALTER TABLE lanes ADD COLUMN failures integer NOT NULL DEFAULT 0;

ALTER TABLE provider_configs ENABLE ROW LEVEL SECURITY;
ALTER TABLE provider_configs FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON provider_configs TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON provider_configs TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON provider_configs TO tocsin_app;
GRANT SELECT, UPDATE (tokens, tokens_at) ON provider_configs TO tocsin_worker;
