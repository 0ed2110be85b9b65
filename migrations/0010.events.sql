-- depends: 0009.feedback
-- Facts from the producers' domain. The fan-out reads them in the order of (txid, id) and never past a transaction that is still open:
-- ids are handed out before the commit, so id order alone would skip an event that commits late.
CREATE TABLE domain_events (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    tenant_id uuid NOT NULL,
    txid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    event_id text NOT NULL CHECK (char_length(event_id) BETWEEN 1 AND 255),
    type text NOT NULL CHECK (char_length(type) BETWEEN 1 AND 100),
    source text NOT NULL CHECK (char_length(source) BETWEEN 1 AND 255),
    scope text CHECK (char_length(scope) BETWEEN 1 AND 255),
    thread_kind text,
    thread_id text,
    actor_user_id uuid,
    data jsonb NOT NULL DEFAULT '{}',
    notification_id uuid NOT NULL,
    mode text NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test')),
    request_id text NOT NULL DEFAULT '',
    trace_id text NOT NULL DEFAULT '',
    occurred_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    outcome text NOT NULL DEFAULT 'waiting'
        CHECK (outcome IN ('waiting', 'notified', 'nobody', 'not_routed', 'expired', 'dead_letter')),
    recipient_count integer NOT NULL DEFAULT 0,
    FOREIGN KEY (tenant_id, actor_user_id) REFERENCES users (tenant_id, id) ON DELETE SET NULL (actor_user_id),
    CONSTRAINT domain_events_thread_whole CHECK ((thread_kind IS NULL) = (thread_id IS NULL))
) WITH (fillfactor = 80);
COMMENT ON COLUMN domain_events.notification_id IS 'the record that its emails and pushes belong to, if it makes any';
-- a producer's event is taken once
CREATE UNIQUE INDEX domain_events_source_idx ON domain_events (tenant_id, source, event_id);
-- "what became of this event?"
CREATE UNIQUE INDEX domain_events_notification_idx ON domain_events (notification_id);
-- the fan-out reads on from its cursor
CREATE INDEX domain_events_order_idx ON domain_events (txid, id);
-- erasing a person, and the foreign key
CREATE INDEX domain_events_actor_idx ON domain_events (tenant_id, actor_user_id) WHERE actor_user_id IS NOT NULL;
-- retention
CREATE INDEX domain_events_recorded_idx ON domain_events (recorded_at);

-- How far each consumer has come. An event with many recipients is fanned out in pages; after_user_id is the place within it.
CREATE TABLE domain_events_processed (
    consumer text PRIMARY KEY,
    last_event_id bigint NOT NULL,
    last_txid xid8 NOT NULL DEFAULT '0',
    current_event_id bigint,
    after_user_id uuid,
    claim_count smallint NOT NULL DEFAULT 0,
    leased_until timestamptz,
    lease_token uuid,
    hinted_at timestamptz,
    updated_at timestamptz NOT NULL DEFAULT tocsin_now(),
    CONSTRAINT domain_events_processed_place CHECK ((current_event_id IS NULL) = (after_user_id IS NULL))
) WITH (fillfactor = 50);
COMMENT ON COLUMN domain_events_processed.claim_count IS 'claims since the cursor last moved; above three its next event is poison';
INSERT INTO domain_events_processed (consumer, last_event_id) VALUES ('notify_fanout', 0);

-- Which events tell whom, and on which channels. A type that no row matches tells nobody.
CREATE TABLE event_routing (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    event_type text NOT NULL CHECK (char_length(event_type) BETWEEN 1 AND 100),
    rules jsonb NOT NULL CHECK (jsonb_typeof(rules) = 'object'),
    overrides text[] NOT NULL DEFAULT '{mention,review_requested}',
    subscribe_actor boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now(),
    PRIMARY KEY (tenant_id, event_type)
);
COMMENT ON COLUMN event_routing.event_type IS 'a type, or the beginning of one followed by *';
COMMENT ON COLUMN event_routing.rules IS 'reason to channels; a reason that is not named tells nobody';
COMMENT ON COLUMN event_routing.overrides IS 'the reasons that reach people who muted the thread or ignore the scope';

-- What a person wants to hear of a whole scope (000: a repository).
CREATE TABLE watches (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    scope text NOT NULL CHECK (char_length(scope) BETWEEN 1 AND 255),
    level text NOT NULL CHECK (level IN ('all', 'participating', 'ignore')),
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now(),
    PRIMARY KEY (tenant_id, user_id, scope),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
);
-- the fan-out: who watches this scope, page by page
CREATE INDEX watches_scope_idx ON watches (tenant_id, scope, user_id) WHERE level = 'all';

-- What a person wants to hear of one thread: their own word (reason manual), or that they took part. It stands above the watch.
CREATE TABLE notification_threads (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    thread_kind text NOT NULL,
    thread_id text NOT NULL,
    subscribed boolean NOT NULL,
    reason text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 32),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now(),
    PRIMARY KEY (tenant_id, user_id, thread_kind, thread_id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
);
-- the fan-out: who is subscribed to this thread, page by page
CREATE INDEX notification_threads_thread_idx ON notification_threads (tenant_id, thread_kind, thread_id, user_id) WHERE subscribed;
-- retention: a person's own word stays, having taken part is forgotten
CREATE INDEX notification_threads_updated_idx ON notification_threads (updated_at) WHERE reason <> 'manual';

-- Who cares about something, one reason each (the strongest of those that are asked for), in the order of user ids and at most so
-- many after a given one. A source whose reasons nobody asks for is not read.
-- Muted: the person unsubscribed from the thread, or ignores the scope and did not subscribe to the thread by their own word.
CREATE FUNCTION tocsin_audience(
    of_tenant uuid, of_scope text, of_thread_kind text, of_thread_id text, named jsonb, reasons text[], after_user uuid,
    most integer)
    RETURNS TABLE (user_id uuid, reason text, is_muted boolean)
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT chosen.user_id,
           (ARRAY['mention', 'review_requested', 'assign', 'author', 'comment', 'subscribed', 'watching'])[chosen.rank],
           COALESCE(NOT own.subscribed, false)
               OR COALESCE(watch.level = 'ignore', false) AND NOT COALESCE(own.subscribed AND own.reason = 'manual', false)
    FROM (
        SELECT candidate.user_id, min(candidate.rank) AS rank
        FROM (
            SELECT users.id AS user_id,
                   array_position(ARRAY['mention', 'review_requested', 'assign', 'author'], role.reason) AS rank
            FROM jsonb_each(named) AS role (reason, members)
            CROSS JOIN LATERAL jsonb_array_elements_text(role.members) AS member (external_id)
            JOIN users ON users.tenant_id = of_tenant AND users.external_id = member.external_id
            WHERE role.reason = ANY(reasons)
              AND users.id > COALESCE(after_user, '00000000-0000-0000-0000-000000000000')
            UNION ALL
            (SELECT thread.user_id, CASE thread.reason WHEN 'author' THEN 4 WHEN 'comment' THEN 5 ELSE 6 END
             FROM notification_threads AS thread
             WHERE thread.tenant_id = of_tenant AND thread.thread_kind = of_thread_kind AND thread.thread_id = of_thread_id
               AND thread.subscribed
               AND CASE WHEN thread.reason IN ('author', 'comment') THEN thread.reason ELSE 'subscribed' END = ANY(reasons)
               AND thread.user_id > COALESCE(after_user, '00000000-0000-0000-0000-000000000000')
             ORDER BY thread.user_id
             LIMIT most)
            UNION ALL
            (SELECT watches.user_id, 7
             FROM watches
             WHERE 'watching' = ANY(reasons)
               AND watches.tenant_id = of_tenant AND watches.scope = of_scope AND watches.level = 'all'
               AND watches.user_id > COALESCE(after_user, '00000000-0000-0000-0000-000000000000')
             ORDER BY watches.user_id
             LIMIT most)
        ) AS candidate
        GROUP BY candidate.user_id
        ORDER BY candidate.user_id
        LIMIT most
    ) AS chosen
    LEFT JOIN notification_threads AS own
        ON own.tenant_id = of_tenant AND own.user_id = chosen.user_id
        AND own.thread_kind = of_thread_kind AND own.thread_id = of_thread_id
    LEFT JOIN watches AS watch
        -- who is here for the watch alone does not ignore the scope
        ON watch.tenant_id = of_tenant AND watch.user_id = CASE WHEN chosen.rank < 7 THEN chosen.user_id END
        AND watch.scope = of_scope
$$;

-- A route also says why its recipient is one; a record may come from an event, or be the digest of what was held back.
ALTER TABLE routes ADD COLUMN audience_reason text NOT NULL DEFAULT '';
ALTER TABLE records DROP CONSTRAINT records_audience_kind_check;
ALTER TABLE records ADD CONSTRAINT records_audience_kind_check
    CHECK (audience_kind IN ('users', 'address', 'tenant', 'thread', 'scope', 'event', 'digest')) NOT VALID;
ALTER TABLE records VALIDATE CONSTRAINT records_audience_kind_check;

ALTER TABLE domain_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE domain_events FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON domain_events TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON domain_events TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
ALTER TABLE domain_events_processed ENABLE ROW LEVEL SECURITY;
ALTER TABLE domain_events_processed FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON domain_events_processed TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
ALTER TABLE event_routing ENABLE ROW LEVEL SECURITY;
ALTER TABLE event_routing FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON event_routing TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON event_routing TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
ALTER TABLE watches ENABLE ROW LEVEL SECURITY;
ALTER TABLE watches FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON watches TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON watches TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
ALTER TABLE notification_threads ENABLE ROW LEVEL SECURITY;
ALTER TABLE notification_threads FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON notification_threads TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON notification_threads TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON domain_events TO tocsin_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON event_routing, watches, notification_threads TO tocsin_app;
GRANT SELECT, UPDATE (outcome, recipient_count) ON domain_events TO tocsin_worker;
GRANT SELECT, UPDATE ON domain_events_processed TO tocsin_worker;
GRANT SELECT ON event_routing, watches TO tocsin_worker;
GRANT SELECT, INSERT ON notification_threads TO tocsin_worker;
GRANT INSERT ON records TO tocsin_worker;
GRANT SELECT, DELETE, UPDATE (outcome) ON domain_events TO tocsin_retention;
GRANT SELECT ON domain_events_processed TO tocsin_retention;
GRANT SELECT, DELETE, UPDATE (updated_at) ON notification_threads TO tocsin_retention;
