-- depends: 0006.access
-- The words. A version is never changed: creating one again under the same name, channel and locale makes the next version,
-- and the newest is the active one. Routes pin the version they were planned with.
CREATE TABLE templates (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    channel text NOT NULL CHECK (channel IN ('email', 'sms', 'push', 'in_app')),
    locale text NOT NULL DEFAULT 'default' CHECK (char_length(locale) BETWEEN 1 AND 35),
    version integer NOT NULL CHECK (version > 0),
    subject text,
    body text NOT NULL,
    text text,
    variables text[] NOT NULL DEFAULT '{}',
    is_active boolean NOT NULL DEFAULT true,
    created_by uuid,
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now()
);
CREATE UNIQUE INDEX templates_version_idx ON templates (tenant_id, name, channel, locale, version);
-- planning: the active version of a name, channel and locale; one at most
CREATE UNIQUE INDEX templates_active_idx ON templates (tenant_id, name, channel, locale) WHERE is_active;
CREATE INDEX templates_listing_idx ON templates (tenant_id, created_at DESC, id DESC);

-- What a kind of notification means to a tenant: defaults for intents that do not say, and policies nobody should have to repeat.
CREATE TABLE notification_types (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    channels text[] CHECK (channels <@ ARRAY['email', 'sms', 'push', 'in_app'] AND cardinality(channels) > 0),
    template text,
    priority text NOT NULL DEFAULT 'normal' CHECK (priority IN ('low', 'normal', 'high', 'critical')),
    ambiguous_policy text CHECK (ambiguous_policy IN ('retry', 'hold')),
    transactional boolean NOT NULL DEFAULT true,
    expires_after_seconds integer CHECK (expires_after_seconds > 0),
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now(),
    PRIMARY KEY (tenant_id, name)
);

ALTER TABLE routes ADD COLUMN template_id uuid;

-- How far a locale is from the one that is wanted: itself, its language, the default, anything else.
CREATE FUNCTION tocsin_locale_distance(locale text, wanted text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN replace(lower(locale), '_', '-') = replace(lower(wanted), '_', '-') THEN 0
        WHEN lower(locale) = split_part(replace(lower(wanted), '_', '-'), '-', 1) THEN 1
        WHEN locale = 'default' THEN 2
        ELSE 3
    END;

ALTER TABLE templates ENABLE ROW LEVEL SECURITY;
ALTER TABLE templates FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON templates TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON templates TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
ALTER TABLE notification_types ENABLE ROW LEVEL SECURITY;
ALTER TABLE notification_types FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON notification_types TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON notification_types TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON templates TO tocsin_app;
GRANT UPDATE (is_active, updated_at) ON templates TO tocsin_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON notification_types TO tocsin_app;
GRANT SELECT ON templates, notification_types TO tocsin_worker;
