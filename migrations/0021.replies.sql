-- depends: 0020.triggers
-- A synchronous caller's mailbox: there while somebody waits, gone when they leave. It is empty: what has ended says so in its own
-- row, and that nothing of the notification points here any more is the reply.
CREATE TABLE reply_inboxes (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    expires_at timestamptz NOT NULL
);
COMMENT ON COLUMN reply_inboxes.id IS 'of the notification: whoever repeats the request waits at the same mailbox';
COMMENT ON COLUMN reply_inboxes.expires_at IS 'nobody waits any longer: whoever does takes it away before';
CREATE INDEX reply_inboxes_tenant_idx ON reply_inboxes (tenant_id);
CREATE INDEX reply_inboxes_expires_idx ON reply_inboxes (expires_at);

-- Forensic: work that ended and found nobody waiting for it any more.
CREATE TABLE abandoned_executions (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    outbox_id uuid NOT NULL,
    reply_to uuid NOT NULL,
    source_kind text NOT NULL,
    notification_id uuid,
    route_id text,
    outcome jsonb NOT NULL,
    abandoned_at timestamptz NOT NULL DEFAULT tocsin_now()
);
-- the list: newest first; of one notification; retention
CREATE INDEX abandoned_executions_listing_idx ON abandoned_executions (tenant_id, abandoned_at DESC, id DESC);
CREATE INDEX abandoned_executions_notification_idx ON abandoned_executions (notification_id, abandoned_at DESC, id DESC);
CREATE INDEX abandoned_executions_abandoned_idx ON abandoned_executions (abandoned_at);

-- the wait: is anything of it still under way?
CREATE INDEX outbox_reply_idx ON outbox (reply_to) WHERE reply_to IS NOT NULL;

-- Work that somebody waits for replies when it ends, whoever ends it, or when it is put off (which takes its reply_to away).
CREATE FUNCTION tocsin_reply() RETURNS trigger
    LANGUAGE plpgsql
AS $$
DECLARE
    outcome jsonb;
BEGIN
    -- The lock lets a caller who is leaving wait for us, or us for them, and then the mailbox is gone: never both, never neither.
    -- It is shared: workers who settle routes of the same notifications do not wait for each other.
    PERFORM FROM reply_inboxes
    WHERE id = OLD.reply_to AND tenant_id = OLD.tenant_id AND expires_at > tocsin_now()
    FOR KEY SHARE;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    IF OLD.route_id IS NOT NULL THEN
        SELECT jsonb_build_object('status', routes.status, 'reason', routes.reason, 'next_attempt_at', routes.next_attempt_at)
        INTO outcome
        FROM routes
        WHERE routes.notification_id = OLD.notification_id AND routes.route_id = OLD.route_id
          AND (TG_OP = 'UPDATE' OR routes.status NOT IN ('pending', 'failed'));
    ELSE
        -- what planning ended by itself; what goes on replies for itself
        SELECT jsonb_object_agg(routes.status, routes.routes) INTO outcome
        FROM (
            SELECT status, count(*) AS routes
            FROM routes
            WHERE notification_id = OLD.notification_id AND status NOT IN ('pending', 'failed')
            GROUP BY status
        ) AS routes;
    END IF;
    IF outcome IS NULL THEN
        -- buried without a word on a route
        SELECT jsonb_build_object('status', 'dead_letter', 'reason', letter.failure_classification)
        INTO outcome
        FROM dead_letters AS letter
        WHERE letter.notification_id = OLD.notification_id AND letter.outbox_id = OLD.id
        LIMIT 1;
    END IF;
    IF outcome IS NOT NULL THEN
        INSERT INTO abandoned_executions (
            id, tenant_id, outbox_id, reply_to, source_kind, notification_id, route_id, outcome)
        VALUES (tocsin_uuid7(), OLD.tenant_id, OLD.id, OLD.reply_to, OLD.source_kind, OLD.notification_id, OLD.route_id, outcome);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER reply_to_end AFTER DELETE ON outbox
    FOR EACH ROW WHEN (OLD.reply_to IS NOT NULL) EXECUTE FUNCTION tocsin_reply();
CREATE TRIGGER reply_to_deferral AFTER UPDATE OF reply_to ON outbox
    FOR EACH ROW WHEN (OLD.reply_to IS NOT NULL AND NEW.reply_to IS NULL) EXECUTE FUNCTION tocsin_reply();

ALTER TABLE reply_inboxes ENABLE ROW LEVEL SECURITY;
ALTER TABLE reply_inboxes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON reply_inboxes TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON reply_inboxes TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON reply_inboxes TO tocsin_app;
-- A lock needs the right to update; the statement that accepts intents, which triggers send too, names the table.
GRANT SELECT, INSERT, UPDATE (expires_at) ON reply_inboxes TO tocsin_worker;
GRANT SELECT, DELETE, UPDATE (expires_at) ON reply_inboxes TO tocsin_retention;

ALTER TABLE abandoned_executions ENABLE ROW LEVEL SECURITY;
ALTER TABLE abandoned_executions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON abandoned_executions TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON abandoned_executions TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON abandoned_executions TO tocsin_app;
GRANT SELECT, INSERT ON abandoned_executions TO tocsin_worker;
GRANT SELECT, DELETE, UPDATE (outcome) ON abandoned_executions TO tocsin_retention;
