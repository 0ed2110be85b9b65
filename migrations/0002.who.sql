-- depends: 0001.clock
CREATE TABLE tenants (
    id uuid PRIMARY KEY,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    settings jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT tocsin_now()
);

CREATE TABLE users (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    external_id text NOT NULL CHECK (char_length(external_id) BETWEEN 1 AND 255),
    email text,
    username text,
    phone text,
    locale text,
    timezone text,
    attributes jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now()
);
-- "which user is the producer's alice?", at intake and planning
CREATE UNIQUE INDEX users_external_id_idx ON users (tenant_id, external_id);
CREATE UNIQUE INDEX users_email_idx ON users (tenant_id, lower(email)) WHERE email IS NOT NULL;
CREATE UNIQUE INDEX users_username_idx ON users (tenant_id, username) WHERE username IS NOT NULL;
-- "the next thousand users of this tenant", when an intent goes to everyone; and what belongs to a user belongs to its tenant
CREATE UNIQUE INDEX users_tenant_idx ON users (tenant_id, id);

CREATE TABLE devices (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    platform text NOT NULL CHECK (platform IN ('apns', 'fcm')),
    token text NOT NULL CHECK (octet_length(token) BETWEEN 1 AND 1024),
    endpoint_arn text,
    enabled boolean NOT NULL DEFAULT true,
    disabled_reason text,
    last_seen_at timestamptz NOT NULL DEFAULT tocsin_now(),
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX devices_token_idx ON devices (tenant_id, user_id, token);

CREATE TABLE api_keys (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    user_id uuid,
    producer text NOT NULL CHECK (char_length(producer) BETWEEN 1 AND 100),
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    mode text NOT NULL CHECK (mode IN ('live', 'test')),
    key_prefix text NOT NULL,
    key_hash bytea NOT NULL CHECK (octet_length(key_hash) = 32),
    scopes text[] NOT NULL CHECK (scopes <@ ARRAY['send', 'read', 'inbox', 'data', 'manage', 'operate', 'admin']),
    rate_limit integer CHECK (rate_limit > 0),
    is_active boolean NOT NULL DEFAULT true,
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE SET NULL (user_id)
);
-- authentication: one probe by the hash of the presented key
CREATE UNIQUE INDEX api_keys_hash_idx ON api_keys (key_hash);
CREATE INDEX api_keys_tenant_idx ON api_keys (tenant_id, created_at DESC, id DESC);

-- The limit is a CHECK: a request above it cannot commit, and neither can the work it came with.
CREATE TABLE rate_limits (
    tenant_id uuid NOT NULL,
    subject text NOT NULL,
    limit_type text NOT NULL,
    window_start timestamptz NOT NULL,
    request_count integer NOT NULL,
    max_count integer NOT NULL,
    PRIMARY KEY (tenant_id, subject, limit_type, window_start),
    CONSTRAINT rate_limits_within CHECK (request_count <= max_count)
) WITH (fillfactor = 50);
-- retention walks old windows
CREATE INDEX rate_limits_window_idx ON rate_limits (window_start);
