-- depends: 0011.people
-- Work is done in classes, each with a queue and workers of its own, so that one slow channel keeps nobody else waiting. Within a class
-- workers take turns between tenants, and within a tenant what is urgent comes first. (Code that knows no classes writes plans.)
CREATE FUNCTION tocsin_priority(priority text) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT array_position(ARRAY['critical', 'high', 'normal', 'low'], priority)::smallint $$;

ALTER TABLE outbox
    ADD COLUMN queue text NOT NULL DEFAULT 'plan'
        CONSTRAINT outbox_queue_known CHECK (queue IN ('plan', 'email', 'sms', 'push', 'webhook', 'trigger')),
    ADD COLUMN priority smallint NOT NULL DEFAULT 3 CONSTRAINT outbox_priority_known CHECK (priority BETWEEN 1 AND 4);
COMMENT ON COLUMN outbox.queue IS 'the class of work, and the queue that announces it: plan (also fan-out), or the channel';
COMMENT ON COLUMN outbox.priority IS '1 critical, 2 high, 3 normal, 4 low';
UPDATE outbox
SET queue = routes.channel, priority = tocsin_priority(records.priority)
FROM routes JOIN records USING (notification_id)
WHERE outbox.source_kind = 'deliver' AND routes.notification_id = outbox.notification_id AND routes.route_id = outbox.route_id;

-- what is due in a class: tenant by tenant, priority by priority, soonest first
CREATE INDEX outbox_queue_idx ON outbox (queue, tenant_id, priority, due_at);
DROP INDEX outbox_due_idx;

-- An event with a large audience is walked page by page as work of its own, beside the cursor, which goes on.
INSERT INTO outbox (id, tenant_id, source_kind, notification_id, payload, due_at, max_attempts, retry_backoff, retry_base_ms)
SELECT domain_events.notification_id, domain_events.tenant_id, 'fanout', domain_events.notification_id,
       jsonb_build_object('event', domain_events.id, 'after', processed.after_user_id), tocsin_now(), 5, 'exponential', 5000
FROM domain_events_processed AS processed
JOIN domain_events ON domain_events.id = processed.current_event_id;
UPDATE domain_events_processed AS processed
SET last_txid = domain_events.txid, last_event_id = domain_events.id, claim_count = 0, lease_token = NULL, leased_until = NULL
FROM domain_events
WHERE domain_events.id = processed.current_event_id;
ALTER TABLE domain_events_processed
    DROP CONSTRAINT domain_events_processed_place, DROP COLUMN current_event_id, DROP COLUMN after_user_id;

-- Of two events on one thread the later gives the inbox row its words, whichever of them is told first.
ALTER TABLE notifications ADD COLUMN told_at timestamptz;
COMMENT ON COLUMN notifications.told_at IS 'when what the words tell of was recorded (or was to be sent)';
CREATE FUNCTION tocsin_is_later(told_at timestamptz, event_id bigint, than timestamptz, than_event_id bigint) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN told_at = than THEN COALESCE(event_id, 0) >= COALESCE(than_event_id, 0)
                ELSE COALESCE(told_at > than, true) END
$$;
