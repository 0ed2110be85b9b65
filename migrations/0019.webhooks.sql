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
-- telling: who wants to hear
CREATE INDEX webhooks_active_idx ON webhooks (tenant_id) WHERE is_active;
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

-- In plpgsql, where plans are kept: a plain SQL function would be planned anew for every row.
CREATE FUNCTION tocsin_tell(event text, whose uuid, about uuid, details jsonb) RETURNS void
    LANGUAGE plpgsql
AS $$
DECLARE
    origin record;
BEGIN
    SELECT notification_id, notification_type, producer, mode, trace_id, trigger_depth INTO origin
    FROM records
    WHERE tenant_id = whose AND notification_id = about;
    IF NOT FOUND THEN  -- an event that died before it made a record
        SELECT NULL::uuid AS notification_id, type AS notification_type, source AS producer, mode, trace_id, trigger_depth
        INTO origin
        FROM domain_events
        WHERE tenant_id = whose AND notification_id = about;
    END IF;
    WITH delivery AS (
        INSERT INTO webhook_deliveries (
            id, tenant_id, webhook_id, notification_id, event_type, payload, message_id, trace_id, next_retry_at)
        SELECT tocsin_uuid7(), whose, webhooks.id, origin.notification_id, event,
               jsonb_build_object(
                   'type', event, 'timestamp', tocsin_rfc3339(tocsin_now()),
                   'data', jsonb_build_object(
                       'notification_id', about, 'type', origin.notification_type, 'producer', origin.producer,
                       'mode', COALESCE(origin.mode, 'live')) || details),
               tocsin_uuid7(), COALESCE(origin.trace_id, ''), tocsin_now()
        FROM webhooks
        WHERE webhooks.tenant_id = whose AND webhooks.is_active AND event = ANY(webhooks.events)
          AND COALESCE(origin.mode, 'live') = ANY(webhooks.modes)
        FOR KEY SHARE  -- a hook that is being removed is waited for, and not told: its foreign key would undo the change itself
        RETURNING id, webhook_id
    )
    INSERT INTO outbox (
        id, tenant_id, source_kind, queue, due_at, max_attempts, retry_backoff, retry_base_ms, trigger_depth)
    SELECT delivery.id, whose, 'webhook', 'webhook', tocsin_now(), webhooks.retry_count, 'exponential', 5000,
           COALESCE(origin.trigger_depth, 0)
    FROM delivery JOIN webhooks ON webhooks.id = delivery.webhook_id;
END
$$;

CREATE FUNCTION tocsin_tell_of_route() RETURNS trigger
    LANGUAGE plpgsql
AS $$
DECLARE
    happened text[] := '{}';
    event text;
BEGIN
    IF TG_OP = 'INSERT' OR OLD.status <> NEW.status THEN
        happened := happened || CASE NEW.status
            WHEN 'published' THEN ARRAY['notification.published'] WHEN 'dead_letter' THEN ARRAY['notification.dead_lettered']
            WHEN 'skipped' THEN ARRAY['notification.skipped'] WHEN 'cancelled' THEN ARRAY['notification.cancelled']
            ELSE '{}' END;
    END IF;
    IF TG_OP = 'INSERT' OR OLD.feedback <> NEW.feedback THEN
        happened := happened || CASE NEW.feedback
            WHEN 'delivered' THEN ARRAY['notification.delivered'] WHEN 'complained' THEN ARRAY['notification.complained']
            WHEN 'soft_bounced' THEN ARRAY['notification.bounced'] WHEN 'hard_bounced' THEN ARRAY['notification.bounced']
            ELSE '{}' END;
    END IF;
    IF NOT EXISTS (SELECT FROM webhooks WHERE tenant_id = NEW.tenant_id AND is_active AND events && happened) THEN
        RETURN NULL;
    END IF;
    FOREACH event IN ARRAY happened LOOP
        PERFORM tocsin_tell(event, NEW.tenant_id, NEW.notification_id, jsonb_build_object(
            'route_id', NEW.route_id, 'channel', NEW.channel, 'recipient', NEW.recipient_ref, 'status', NEW.status,
            'reason', NEW.reason, 'attempts', NEW.attempt_count, 'provider', NEW.provider,
            'provider_message_id', NEW.provider_message_id, 'feedback', NEW.feedback));
    END LOOP;
    RETURN NULL;
END
$$;
CREATE TRIGGER tell_of_new_route AFTER INSERT ON routes
    FOR EACH ROW WHEN (NEW.status NOT IN ('pending', 'failed')) EXECUTE FUNCTION tocsin_tell_of_route();
CREATE TRIGGER tell_of_route AFTER UPDATE OF status, feedback ON routes
    FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.feedback <> NEW.feedback) EXECUTE FUNCTION tocsin_tell_of_route();

-- A plan, or an event, that nobody could carry out has no route to tell of.
CREATE FUNCTION tocsin_tell_of_dead_letter() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM tocsin_tell('notification.dead_lettered', NEW.tenant_id, NEW.notification_id, jsonb_build_object(
        'route_id', NULL, 'channel', NULL, 'recipient', NULL, 'status', 'dead_letter', 'reason', NEW.failure_classification,
        'attempts', NEW.final_attempt_count, 'provider', NULL, 'provider_message_id', NULL, 'feedback', NULL));
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
