-- depends: 0005.seen
-- Who may touch what. Security is FORCEd, so the tables' owner obeys it too; a role without a policy sees nothing.
-- tocsin_app sees the tenant of its transaction; a transaction without one fails (tocsin_tenant() raises).
GRANT USAGE ON SCHEMA public TO tocsin_app, tocsin_worker, tocsin_retention;

ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenants FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON tenants TO tocsin_app USING (id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON tenants TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE users FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON users TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON users TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

ALTER TABLE devices ENABLE ROW LEVEL SECURITY;
ALTER TABLE devices FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON devices TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON devices TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

ALTER TABLE rate_limits ENABLE ROW LEVEL SECURITY;
ALTER TABLE rate_limits FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON rate_limits TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON rate_limits TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

ALTER TABLE records ENABLE ROW LEVEL SECURITY;
ALTER TABLE records FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON records TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON records TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

ALTER TABLE routes ENABLE ROW LEVEL SECURITY;
ALTER TABLE routes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON routes TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON routes TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

ALTER TABLE attempts ENABLE ROW LEVEL SECURITY;
ALTER TABLE attempts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON attempts TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON attempts TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

ALTER TABLE dead_letters ENABLE ROW LEVEL SECURITY;
ALTER TABLE dead_letters FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON dead_letters TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON dead_letters TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

ALTER TABLE malformed_intents ENABLE ROW LEVEL SECURITY;
ALTER TABLE malformed_intents FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON malformed_intents TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON malformed_intents TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

ALTER TABLE outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE outbox FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON outbox TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON outbox TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

ALTER TABLE notifications ENABLE ROW LEVEL SECURITY;
ALTER TABLE notifications FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON notifications TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON notifications TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

-- Whoever holds a key's hash may read that key (and note its use) before its tenant is known.
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON api_keys TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
CREATE POLICY own_tenant ON api_keys TO tocsin_app
    USING (CASE WHEN COALESCE(current_setting('tocsin.key_hash', true), '') <> ''
                THEN key_hash = decode(current_setting('tocsin.key_hash', true), 'hex')
                ELSE tenant_id = NULLIF(current_setting('tocsin.tenant', true), '')::uuid END)
    WITH CHECK (CASE WHEN COALESCE(current_setting('tocsin.key_hash', true), '') <> ''
                     THEN key_hash = decode(current_setting('tocsin.key_hash', true), 'hex')
                     ELSE tenant_id = NULLIF(current_setting('tocsin.tenant', true), '')::uuid END);
-- (Not tocsin_tenant(), which raises: after waiting for a row Postgres evaluates both branches. Without a tenant it sees nothing.)

-- Events of the whole service (a stopped lane) have no tenant and are everyone's to see, nobody's to change.
ALTER TABLE admin_system_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE admin_system_events FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON admin_system_events TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY shared_events ON admin_system_events FOR SELECT TO tocsin_app USING (tenant_id IS NULL);
CREATE POLICY every_tenant ON admin_system_events TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

-- Lanes belong to no tenant; only workers touch them.
ALTER TABLE lanes ENABLE ROW LEVEL SECURITY;
ALTER TABLE lanes FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON lanes TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

GRANT SELECT ON tenants TO tocsin_app, tocsin_worker, tocsin_retention;
GRANT INSERT ON tenants TO tocsin_worker;

GRANT SELECT, INSERT, UPDATE, DELETE ON users, devices TO tocsin_app;
GRANT SELECT, INSERT, UPDATE ON api_keys, rate_limits TO tocsin_app;
GRANT SELECT, INSERT, UPDATE ON records TO tocsin_app;
GRANT SELECT, UPDATE ON routes TO tocsin_app;
GRANT SELECT ON attempts, dead_letters TO tocsin_app;
GRANT SELECT, INSERT ON malformed_intents TO tocsin_app;
GRANT SELECT, INSERT, DELETE, UPDATE (due_at) ON outbox TO tocsin_app;
GRANT SELECT, UPDATE ON notifications TO tocsin_app;
GRANT SELECT ON admin_system_events TO tocsin_app;

GRANT SELECT ON users TO tocsin_worker;
GRANT SELECT, UPDATE ON devices TO tocsin_worker;
GRANT SELECT, INSERT ON api_keys TO tocsin_worker;
GRANT SELECT, UPDATE ON records TO tocsin_worker;
GRANT SELECT, INSERT, UPDATE ON routes, attempts, notifications, admin_system_events TO tocsin_worker;
GRANT SELECT, INSERT ON dead_letters TO tocsin_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox, lanes TO tocsin_worker;

GRANT SELECT, DELETE ON records, routes, attempts, dead_letters, malformed_intents, rate_limits, notifications,
    admin_system_events, lanes TO tocsin_retention;
GRANT SELECT, DELETE ON outbox TO tocsin_retention;
GRANT UPDATE (holds_key, updated_at) ON records TO tocsin_retention;
-- Locking a row before it is deleted (FOR UPDATE SKIP LOCKED) asks for the right to update a column of it.
GRANT UPDATE (max_count) ON rate_limits TO tocsin_retention;
GRANT UPDATE (updated_at) ON routes TO tocsin_retention;
GRANT UPDATE (failure_message) ON malformed_intents TO tocsin_retention;
GRANT UPDATE (recovery_hint) ON dead_letters TO tocsin_retention;
GRANT UPDATE (updated_at) ON notifications TO tocsin_retention;
GRANT UPDATE (details) ON admin_system_events TO tocsin_retention;

-- GET /ready compares what was applied with what the code needs.
GRANT SELECT ON _yoyo_migration TO tocsin_app;
