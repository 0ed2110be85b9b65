-- depends: 0018.lists
-- Status webhooks: where a tenant's own systems hear what became of its notifications. The secret is a ciphertext of the installation's
-- key, bound to tenant and row; after a rotation the one before it signs too, until it expires.
CREATE TABLE webhooks (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    url text NOT NULL CHECK (char_length(url) BETWEEN 1 AND 500),
    description text NOT NULL DEFAULT '' CHECK (char_length(description) <= 200),
    secret bytea NOT NULL,
    previous_secret bytea,
    previous_secret_expires_at timestamptz,
    events text[] NOT NULL CHECK (cardinality(events) > 0 AND events <@ ARRAY[
        'notification.published', 'notification.delivered', 'notification.bounced', 'notification.complained',
        'notification.dead_lettered', 'notification.skipped', 'notification.cancelled']),
    modes text[] NOT NULL DEFAULT ARRAY['live'] CHECK (cardinality(modes) > 0 AND modes <@ ARRAY['live', 'test']),
    is_active boolean NOT NULL DEFAULT true,
    disabled_reason text NOT NULL DEFAULT '' CHECK (disabled_reason IN ('', 'request', 'gone', 'failing')),
    disabled_at timestamptz,
    retry_count smallint NOT NULL DEFAULT 10 CHECK (retry_count BETWEEN 1 AND 10),
    timeout_seconds smallint NOT NULL DEFAULT 10 CHECK (timeout_seconds BETWEEN 1 AND 15),
    failing_since timestamptz,
    last_success_at timestamptz,
    created_by uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now(),
    CONSTRAINT webhooks_previous_secret CHECK ((previous_secret IS NULL) = (previous_secret_expires_at IS NULL)),
    CONSTRAINT webhooks_disabled CHECK (is_active = (disabled_at IS NULL) AND is_active = (disabled_reason = ''))
) WITH (fillfactor = 70);
COMMENT ON COLUMN webhooks.modes IS 'whose ends it hears of: those of live keys, of test keys, or of both';
COMMENT ON COLUMN webhooks.failing_since IS 'the first failure since the last success; five days of nothing else disable the hook';
COMMENT ON COLUMN webhooks.created_by IS 'the API key that made it';
-- telling: who of the tenant's few wants to hear; and their list
CREATE INDEX webhooks_listing_idx ON webhooks (tenant_id, id);

-- One row per event and hook, written by the statement that made the event happen. While it is pending, outbox work of the same id
-- carries it out.
CREATE TABLE webhook_deliveries (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    webhook_id uuid NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    notification_id uuid REFERENCES records (notification_id) ON DELETE CASCADE,
    event_type text NOT NULL,
    payload jsonb NOT NULL,
    message_id uuid NOT NULL,
    trace_id text NOT NULL DEFAULT '',
    redelivery_of uuid,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
    delivered boolean GENERATED ALWAYS AS (status = 'delivered') STORED,
    attempt_count smallint NOT NULL DEFAULT 0,
    response_status smallint,
    response_body text NOT NULL DEFAULT '' CHECK (char_length(response_body) <= 2000),
    error text NOT NULL DEFAULT '',
    duration_ms integer,
    next_retry_at timestamptz,
    delivered_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now(),
    CONSTRAINT webhook_deliveries_delivered_at CHECK ((status = 'delivered') = (delivered_at IS NOT NULL)),
    CONSTRAINT webhook_deliveries_retry CHECK (next_retry_at IS NULL OR status = 'pending')
) WITH (fillfactor = 80);
COMMENT ON COLUMN webhook_deliveries.message_id IS 'webhook-id: the same for every try and every redelivery of one event';
COMMENT ON COLUMN webhook_deliveries.error IS 'why there was no good answer, in one word; empty where there was one';
-- the log of a hook: newest first; by status; of one notification
CREATE INDEX webhook_deliveries_listing_idx ON webhook_deliveries (webhook_id, id DESC);
CREATE INDEX webhook_deliveries_status_idx ON webhook_deliveries (webhook_id, status, id DESC);
CREATE INDEX webhook_deliveries_notification_idx ON webhook_deliveries (notification_id, webhook_id) WHERE notification_id IS NOT NULL;
-- retention
CREATE INDEX webhook_deliveries_created_idx ON webhook_deliveries (created_at);

-- How many triggers led to an event; its records inherit it.
ALTER TABLE domain_events ADD COLUMN trigger_depth smallint NOT NULL DEFAULT 0;

-- Whatever writes an end, in whichever statement, tells of it: the rows below are written by the database itself.
CREATE FUNCTION tocsin_rfc3339(moment timestamptz) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') $$;

CREATE FUNCTION tocsin_event_of_status(status text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE status
        WHEN 'published' THEN 'notification.published' WHEN 'dead_letter' THEN 'notification.dead_lettered'
        WHEN 'skipped' THEN 'notification.skipped' WHEN 'cancelled' THEN 'notification.cancelled' END;

CREATE FUNCTION tocsin_event_of_feedback(feedback text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE feedback
        WHEN 'delivered' THEN 'notification.delivered' WHEN 'complained' THEN 'notification.complained'
        WHEN 'soft_bounced' THEN 'notification.bounced' WHEN 'hard_bounced' THEN 'notification.bounced' END;

CREATE FUNCTION tocsin_told_of(route routes) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT jsonb_build_object(
        'route_id', route.route_id, 'channel', route.channel, 'recipient', route.recipient_ref, 'status', route.status,
        'reason', route.reason, 'attempts', route.attempt_count, 'provider', route.provider,
        'provider_message_id', route.provider_message_id, 'feedback', route.feedback)
$$;

-- What happened, in so many arrays of equal length: to which tenant's notification, and what is to be said of it. In plpgsql, where
-- the plan is kept; LIMIT keeps it to one probe of an index for each.
CREATE FUNCTION tocsin_tell(happened text[], whose uuid[], about uuid[], details jsonb[]) RETURNS void
    LANGUAGE plpgsql
AS $$
BEGIN
    WITH telling AS MATERIALIZED (
        SELECT tocsin_uuid7() AS id, end_of.tenant_id, webhooks.id AS webhook_id, webhooks.retry_count, record.notification_id,
               end_of.event, COALESCE(record.trace_id, untold.trace_id, '') AS trace_id,
               COALESCE(record.trigger_depth, untold.trigger_depth, 0) AS trigger_depth,
               jsonb_build_object(
                   'notification_id', end_of.about, 'type', COALESCE(record.notification_type, untold.type),
                   'producer', COALESCE(record.producer, untold.source),
                   'mode', COALESCE(record.mode, untold.mode, 'live')) || end_of.details AS data
        FROM unnest(happened, whose, about, details) AS end_of (event, tenant_id, about, details)
        LEFT JOIN LATERAL (
            SELECT * FROM records WHERE tenant_id = end_of.tenant_id AND notification_id = end_of.about LIMIT 1
        ) AS record ON true
        LEFT JOIN LATERAL (
            -- an event that died before it made a record
            SELECT *
            FROM domain_events
            WHERE record.notification_id IS NULL AND tenant_id = end_of.tenant_id AND notification_id = end_of.about
            LIMIT 1
        ) AS untold ON true
        JOIN webhooks ON webhooks.tenant_id = end_of.tenant_id AND webhooks.is_active AND end_of.event = ANY(webhooks.events)
                     AND COALESCE(record.mode, untold.mode, 'live') = ANY(webhooks.modes)
        -- a hook that is being removed is waited for, and not told: its foreign key would undo the change itself
        FOR KEY SHARE OF webhooks
    ), delivery AS (
        INSERT INTO webhook_deliveries (
            id, tenant_id, webhook_id, notification_id, event_type, payload, message_id, trace_id, next_retry_at)
        SELECT id, tenant_id, webhook_id, notification_id, event,
               jsonb_build_object('type', event, 'timestamp', tocsin_rfc3339(tocsin_now()), 'data', data),
               tocsin_uuid7(), trace_id, tocsin_now()
        FROM telling
    )
    INSERT INTO outbox (
        id, tenant_id, source_kind, queue, due_at, max_attempts, retry_backoff, retry_base_ms, trigger_depth)
    SELECT id, tenant_id, 'webhook', 'webhook', tocsin_now(), retry_count, 'exponential', 5000, trigger_depth
    FROM telling;
END
$$;

CREATE FUNCTION tocsin_tell_of_new_routes() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM tocsin_tell(array_agg(event), array_agg(tenant_id), array_agg(notification_id), array_agg(details))
    FROM (
        SELECT event, made.tenant_id, made.notification_id, tocsin_told_of(ROW(made.*)::routes) AS details
        FROM made CROSS JOIN LATERAL tocsin_event_of_status(made.status) AS event
        WHERE event IS NOT NULL AND (
            SELECT true FROM webhooks WHERE tenant_id = made.tenant_id AND is_active AND event = ANY(webhooks.events) LIMIT 1)
    ) AS wanted
    HAVING count(*) > 0;
    RETURN NULL;
END
$$;
-- as a whole: one statement plans for thousands of people
CREATE TRIGGER tell_of_new_route AFTER INSERT ON routes
    REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION tocsin_tell_of_new_routes();

CREATE FUNCTION tocsin_tell_of_route() RETURNS trigger
    LANGUAGE plpgsql
AS $$
DECLARE
    happened text[] := array_remove(ARRAY[
        CASE WHEN OLD.status <> NEW.status THEN tocsin_event_of_status(NEW.status) END,
        CASE WHEN OLD.feedback <> NEW.feedback THEN tocsin_event_of_feedback(NEW.feedback) END], NULL);
    event text;
BEGIN
    IF EXISTS (SELECT FROM webhooks WHERE tenant_id = NEW.tenant_id AND is_active AND events && happened) THEN
        FOREACH event IN ARRAY happened LOOP
            PERFORM tocsin_tell(ARRAY[event], ARRAY[NEW.tenant_id], ARRAY[NEW.notification_id], ARRAY[tocsin_told_of(NEW)]);
        END LOOP;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER tell_of_route AFTER UPDATE OF status, feedback ON routes
    FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.feedback <> NEW.feedback) EXECUTE FUNCTION tocsin_tell_of_route();

-- A plan, or an event, that nobody could carry out has no route to tell of.
CREATE FUNCTION tocsin_tell_of_dead_letter() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM tocsin_tell(
        ARRAY['notification.dead_lettered'], ARRAY[NEW.tenant_id], ARRAY[NEW.notification_id], ARRAY[jsonb_build_object(
            'route_id', NULL, 'channel', NULL, 'recipient', NULL, 'status', 'dead_letter', 'reason', NEW.failure_classification,
            'attempts', NEW.final_attempt_count, 'provider', NULL, 'provider_message_id', NULL, 'feedback', NULL)]);
    RETURN NULL;
END
$$;
CREATE TRIGGER tell_of_dead_letter AFTER INSERT ON dead_letters
    FOR EACH ROW WHEN (NEW.route_id IS NULL AND NEW.source_kind IN ('plan', 'fanout', 'deliver'))
    EXECUTE FUNCTION tocsin_tell_of_dead_letter();

-- What the database makes due it says on the connection that caused it, so that whoever sent the statement can nudge at once.
CREATE FUNCTION tocsin_say_due() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    RAISE NOTICE 'tocsin due: % % %', NEW.queue, NEW.id, NEW.tenant_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER say_due AFTER INSERT ON outbox
    FOR EACH ROW WHEN (NEW.queue IN ('webhook', 'trigger')) EXECUTE FUNCTION tocsin_say_due();

ALTER TABLE webhooks ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhooks FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON webhooks TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON webhooks TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON webhooks TO tocsin_app;
GRANT SELECT, UPDATE ON webhooks TO tocsin_worker;
GRANT SELECT ON webhooks TO tocsin_retention;

ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_deliveries FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON webhook_deliveries TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON webhook_deliveries TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON webhook_deliveries TO tocsin_app;
GRANT SELECT, INSERT, UPDATE ON webhook_deliveries TO tocsin_worker;
GRANT SELECT, DELETE, UPDATE (updated_at) ON webhook_deliveries TO tocsin_retention;

-- Whoever switches a hook on again, or removes it, ends the trouble that was told of it.
GRANT UPDATE (is_resolved, resolved_at) ON admin_system_events TO tocsin_app;
