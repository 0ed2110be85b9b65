-- depends: 0035.inbox
-- What people see of whoever writes to them: on top and at the foot of an email, on the pages that its links lead to. One for each tenant.
CREATE TABLE brands (
    tenant_id uuid PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
    name text CHECK (char_length(name) BETWEEN 1 AND 100),
    logo_url text CHECK (logo_url ~ '^https://' AND char_length(logo_url) <= 2000),
    color text CHECK (color ~ '^#[0-9a-f]{6}$'),
    postal_address text CHECK (char_length(postal_address) BETWEEN 1 AND 300),
    reply_to text CHECK (char_length(reply_to) BETWEEN 3 AND 254),
    from_name text CHECK (char_length(from_name) BETWEEN 1 AND 100),
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now()
);
COMMENT ON COLUMN brands.name IS 'without one, the name of the tenant';
ALTER TABLE brands ENABLE ROW LEVEL SECURITY;
ALTER TABLE brands FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON brands TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON brands TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON brands TO tocsin_app;
GRANT SELECT ON brands TO tocsin_worker;
GRANT SELECT (tenant_id), DELETE ON brands TO tocsin_retention;

-- What was done to the words so that the provider takes them: an SMS that was cut, say. The timeline tells it.
ALTER TABLE attempts
    ADD COLUMN note text NOT NULL DEFAULT '',
    ADD CONSTRAINT attempts_note_bound CHECK (char_length(note) <= 200) NOT VALID;
