-- depends: 0023a.letter_lists
-- What operators see and do. First: whose a lane is. NULL is the installation's; a lane that ends with an id is the tenant's whose
-- provider, webhook or handler has that id. Code that does not say so yet leaves NULL, and then nobody but workers sees it.
CREATE FUNCTION tocsin_is_shared_lane(lane text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT lane !~ ':[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' $$;

ALTER TABLE lanes ADD COLUMN tenant_id uuid;
ALTER TABLE lanes ADD COLUMN since timestamptz NOT NULL DEFAULT tocsin_now();
COMMENT ON COLUMN lanes.tenant_id IS 'whose own way out it is; NULL is the installation''s';
COMMENT ON COLUMN lanes.since IS 'nothing has gone as it should since then';
UPDATE lanes SET since = updated_at;
UPDATE lanes SET tenant_id = owner.tenant_id
FROM (
    SELECT tenant_id, provider_name || ':' || id AS lane FROM provider_configs
    UNION ALL SELECT tenant_id, 'webhook:' || id FROM webhooks
    UNION ALL SELECT tenant_id, 'handler:' || id FROM trigger_handlers
) AS owner
WHERE owner.lane = lanes.lane AND NOT tocsin_is_shared_lane(lanes.lane);
UPDATE admin_system_events SET tenant_id = provider_configs.tenant_id
FROM provider_configs
WHERE admin_system_events.tenant_id IS NULL AND admin_system_events.subject = provider_configs.provider_name || ':' || provider_configs.id;
-- the list of one's lanes
CREATE INDEX lanes_tenant_idx ON lanes (tenant_id, lane);

-- The installation's own tenant may do for all what others only see.
CREATE FUNCTION tocsin_is_installation() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT COALESCE(current_setting('tocsin.installation', true), '') = 'on' $$;

CREATE POLICY own_tenant ON lanes TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY shared_lanes ON lanes FOR SELECT TO tocsin_app USING (tenant_id IS NULL AND tocsin_is_shared_lane(lane));
CREATE POLICY of_the_installation ON lanes FOR DELETE TO tocsin_app
    USING (tenant_id IS NULL AND tocsin_is_shared_lane(lane) AND (SELECT tocsin_is_installation()));
GRANT SELECT, DELETE ON lanes TO tocsin_app;

-- Whoever opens a lane wakes what waits for it.
GRANT UPDATE (nudged_at) ON outbox TO tocsin_app;

-- System events: who made one, who resolved it and why. What a tenant's own lane is in trouble with is nobody else's to see.
ALTER TABLE admin_system_events ADD COLUMN created_by uuid;
ALTER TABLE admin_system_events ADD COLUMN resolution_reason text NOT NULL DEFAULT '';
COMMENT ON COLUMN admin_system_events.created_by IS 'the key of the person who made it; NULL is the service itself';
COMMENT ON COLUMN admin_system_events.resolved_by IS 'the key of the person who resolved it; NULL is the service itself';
COMMENT ON COLUMN admin_system_events.user_id IS 'whom it concerns';
ALTER TABLE admin_system_events ADD CONSTRAINT admin_system_events_details_bounded
    CHECK (octet_length(details::text) <= 8192) NOT VALID;
ALTER TABLE admin_system_events ADD CONSTRAINT admin_system_events_words_bounded
    CHECK (char_length(event_type) <= 100 AND char_length(subject) <= 300 AND char_length(description) <= 2000
           AND char_length(resolution_reason) <= 500) NOT VALID;
DROP POLICY shared_events ON admin_system_events;
CREATE POLICY shared_events ON admin_system_events FOR SELECT TO tocsin_app
    USING (tenant_id IS NULL AND (tocsin_is_shared_lane(subject)
                                  OR event_type NOT IN ('lane_stopped', 'quota_reached', 'breaker_opened')));
CREATE POLICY of_the_installation ON admin_system_events FOR UPDATE TO tocsin_app
    USING (tenant_id IS NULL AND (SELECT tocsin_is_installation()));
GRANT UPDATE (resolved_by, resolution_reason) ON admin_system_events TO tocsin_app;

-- Whoever raises or resolves one, by whichever statement: it is said on the connection that did it, when it commits, so that what is
-- undone is never told. No word of a person is in it.
CREATE FUNCTION tocsin_say_system_event() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    RAISE NOTICE 'tocsin system event: %', jsonb_build_object(
        'what', TG_ARGV[0], 'event_id', NEW.id, 'event_type', NEW.event_type, 'severity', NEW.severity, 'subject', NEW.subject,
        'tenant_id', NEW.tenant_id, 'is_manual', NEW.created_by IS NOT NULL);
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER say_raised AFTER INSERT ON admin_system_events DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION tocsin_say_system_event('raised');
CREATE CONSTRAINT TRIGGER say_resolved AFTER UPDATE OF is_resolved ON admin_system_events DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.is_resolved AND NOT OLD.is_resolved) EXECUTE FUNCTION tocsin_say_system_event('resolved');

-- What came in by queue and could not be accepted is repaired and accepted after all, or put aside, once.
ALTER TABLE malformed_intents
    ADD COLUMN resolved_at timestamptz,
    ADD COLUMN resolution text,
    ADD COLUMN resolution_reason text NOT NULL DEFAULT '',
    ADD COLUMN notification_id uuid,
    ADD COLUMN resolved_by uuid;
COMMENT ON COLUMN malformed_intents.notification_id IS 'what it became when it was accepted';
ALTER TABLE malformed_intents
    ADD CONSTRAINT malformed_intents_resolution_known CHECK (resolution IN ('accepted', 'ignored')) NOT VALID,
    ADD CONSTRAINT malformed_intents_resolved_at CHECK ((resolution IS NULL) = (resolved_at IS NULL)) NOT VALID,
    ADD CONSTRAINT malformed_intents_accepted CHECK ((resolution = 'accepted') = (notification_id IS NOT NULL)) NOT VALID;
GRANT UPDATE (resolved_at, resolution, resolution_reason, notification_id, resolved_by) ON malformed_intents TO tocsin_app;

-- How far the fan-out is, which belongs to the installation: not who has it under lease.
CREATE POLICY of_the_installation ON domain_events_processed FOR SELECT TO tocsin_app USING (true);
GRANT SELECT (consumer, last_event_id, last_txid, updated_at) ON domain_events_processed TO tocsin_app;
