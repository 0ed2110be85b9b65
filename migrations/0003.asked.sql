-- depends: 0002.who
-- One durable record per accepted intent. The row is the idempotency reservation: it holds its key while holds_key is true,
-- and gives it up when its window ends. (No foreign key to tenants: the key that wrote it was checked, and the lookup would
-- lock one tenant row for every intent.)
CREATE TABLE records (
    notification_id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    notification_type text NOT NULL CHECK (char_length(notification_type) BETWEEN 1 AND 100),
    producer text NOT NULL,
    mode text NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test')),
    audience_kind text NOT NULL CHECK (audience_kind IN ('users', 'address', 'tenant', 'thread', 'scope')),
    recipient_user_ids jsonb NOT NULL DEFAULT '[]',
    audience jsonb,
    payload_json jsonb NOT NULL,
    idempotency_key text NOT NULL,
    request_fingerprint bytea NOT NULL,
    holds_key boolean NOT NULL DEFAULT true,
    request_id text NOT NULL DEFAULT '',
    trace_id text NOT NULL DEFAULT '',
    template text,
    channels text[],
    priority text NOT NULL DEFAULT 'normal' CHECK (priority IN ('low', 'normal', 'high', 'critical')),
    thread_kind text,
    thread_id text,
    trigger_depth smallint NOT NULL DEFAULT 0,
    retry_max_attempts smallint NOT NULL DEFAULT 5,
    retry_backoff text NOT NULL DEFAULT 'exponential' CHECK (retry_backoff IN ('exponential', 'linear', 'constant')),
    retry_base_ms integer NOT NULL DEFAULT 5000,
    occurred_at timestamptz NOT NULL,
    accepted_at timestamptz NOT NULL,
    send_at timestamptz,
    expires_at timestamptz,
    cancelled_at timestamptz,
    updated_at timestamptz NOT NULL,
    idempotency_expires_at timestamptz NOT NULL,
    CONSTRAINT records_thread_whole CHECK ((thread_kind IS NULL) = (thread_id IS NULL))
);
-- the reservation: one live record per key
CREATE UNIQUE INDEX records_idempotency_unique ON records (tenant_id, producer, idempotency_key) WHERE holds_key;
-- newest-first listing for operators and audits
CREATE INDEX records_listing_idx ON records (tenant_id, accepted_at DESC, notification_id DESC);
-- retention: windows that have ended, and the oldest records of all tenants
CREATE INDEX records_window_idx ON records (idempotency_expires_at) WHERE holds_key;
CREATE INDEX records_accepted_idx ON records (accepted_at);

-- One row per recipient and channel. next_attempt_at is set only while the route waits for a later time.
CREATE TABLE routes (
    notification_id uuid NOT NULL REFERENCES records (notification_id) ON DELETE CASCADE,
    route_id text NOT NULL,
    tenant_id uuid NOT NULL,
    channel text NOT NULL CHECK (channel IN ('email', 'sms', 'push', 'in_app', 'webhook')),
    recipient_ref text NOT NULL,
    user_id uuid,
    device_id uuid,
    status text NOT NULL CHECK (status IN ('pending', 'failed', 'published', 'dead_letter', 'skipped', 'cancelled')),
    reason text NOT NULL DEFAULT '',
    generation smallint NOT NULL DEFAULT 1,
    outbox_id uuid,
    attempt_count smallint NOT NULL DEFAULT 0,
    max_attempts smallint NOT NULL,
    next_attempt_at timestamptz,
    resolved_email text NOT NULL DEFAULT '',
    resolved_phone text NOT NULL DEFAULT '',
    resolved_locale text NOT NULL DEFAULT '',
    provider text NOT NULL DEFAULT '',
    provider_message_id text NOT NULL DEFAULT '',
    provider_response text NOT NULL DEFAULT '',
    feedback text NOT NULL DEFAULT 'none'
        CHECK (feedback IN ('none', 'delayed', 'delivered', 'soft_bounced', 'hard_bounced', 'complained')),
    feedback_at timestamptz,
    duplicate_suspected boolean NOT NULL DEFAULT false,
    deferral_count integer NOT NULL DEFAULT 0,
    deferred_reason text NOT NULL DEFAULT '',
    deferred_at timestamptz,
    last_error_classification text NOT NULL DEFAULT '',
    last_error_message text NOT NULL DEFAULT '',
    last_error_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    published_at timestamptz,
    dead_lettered_at timestamptz,
    skipped_at timestamptz,
    cancelled_at timestamptz,
    PRIMARY KEY (notification_id, route_id),
    CONSTRAINT routes_wait_only_while_live CHECK (next_attempt_at IS NULL OR status IN ('pending', 'failed')),
    CONSTRAINT routes_published_at CHECK ((status = 'published') = (published_at IS NOT NULL)),
    CONSTRAINT routes_dead_lettered_at CHECK ((status = 'dead_letter') = (dead_lettered_at IS NOT NULL)),
    CONSTRAINT routes_skipped_at CHECK ((status = 'skipped') = (skipped_at IS NOT NULL)),
    CONSTRAINT routes_cancelled_at CHECK ((status = 'cancelled') = (cancelled_at IS NOT NULL)),
    CONSTRAINT routes_end_has_reason CHECK (status NOT IN ('dead_letter', 'skipped', 'cancelled') OR reason <> '')
) WITH (fillfactor = 80);
-- operator views: what waits for a later time, soonest first
CREATE INDEX routes_due_idx ON routes (tenant_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
-- operator views by status and channel: everything unfinished or ended badly; published rows (nearly all) leave it
CREATE INDEX routes_status_idx ON routes (tenant_id, status, channel) WHERE status <> 'published';
-- "why did Alice not get it?", and erasing her
CREATE INDEX routes_user_idx ON routes (tenant_id, user_id) WHERE user_id IS NOT NULL;

-- One row per try, committed before the provider is called. outcome NULL: open, its answer not known yet.
CREATE TABLE attempts (
    notification_id uuid NOT NULL,
    route_id text NOT NULL,
    generation smallint NOT NULL,
    attempt_no smallint NOT NULL,
    tenant_id uuid NOT NULL,
    provider text NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz,
    outcome text CHECK (outcome IN ('accepted', 'transient', 'throttled', 'permanent', 'configuration', 'unknown', 'not_sent')),
    error_classification text NOT NULL DEFAULT '',
    error_message text NOT NULL DEFAULT '',
    provider_message_id text NOT NULL DEFAULT '',
    PRIMARY KEY (notification_id, route_id, generation, attempt_no),
    FOREIGN KEY (notification_id, route_id) REFERENCES routes (notification_id, route_id) ON DELETE CASCADE
) WITH (fillfactor = 80);

-- What automation gave up on, with a hint for the person who looks. Of a route, or of another piece of outbox work.
CREATE TABLE dead_letters (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    source_kind text NOT NULL,
    outbox_id uuid NOT NULL,
    notification_id uuid,
    route_id text,
    generation smallint NOT NULL DEFAULT 1,
    channel text NOT NULL DEFAULT '',
    recipient_ref text NOT NULL DEFAULT '',
    final_attempt_count integer NOT NULL,
    max_attempts integer NOT NULL,
    failure_classification text NOT NULL,
    failure_message text NOT NULL,
    recovery_hint text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL,
    resolution text CHECK (resolution IN ('replayed', 'ignored', 'handled_by_script', 'handler_failed')),
    resolved_at timestamptz,
    resolved_by uuid,
    FOREIGN KEY (notification_id, route_id) REFERENCES routes (notification_id, route_id) ON DELETE CASCADE,
    CONSTRAINT dead_letters_resolved_at CHECK ((resolution IS NULL) = (resolved_at IS NULL))
);
-- a route dies once per generation, whoever buries it
CREATE UNIQUE INDEX dead_letters_route_idx ON dead_letters (notification_id, route_id, generation);
CREATE INDEX dead_letters_listing_idx ON dead_letters (tenant_id, created_at DESC, id DESC);
-- the badge: how many wait for a person
CREATE INDEX dead_letters_unresolved_idx ON dead_letters (tenant_id) WHERE resolution IS NULL;
-- retention
CREATE INDEX dead_letters_created_idx ON dead_letters (created_at);

-- What came in by queue or event bus and could not be accepted: kept, so that nothing is lost and a person can see why.
CREATE TABLE malformed_intents (
    stream_entry_id text PRIMARY KEY,
    tenant_id uuid NOT NULL,
    notification_type text NOT NULL DEFAULT '',
    producer text NOT NULL DEFAULT '',
    idempotency_key text NOT NULL DEFAULT '',
    failure_code text NOT NULL,
    failure_message text NOT NULL,
    raw_fields jsonb NOT NULL,
    recorded_at timestamptz NOT NULL
);
CREATE INDEX malformed_intents_listing_idx ON malformed_intents (tenant_id, recorded_at DESC, stream_entry_id DESC);
CREATE INDEX malformed_intents_recorded_idx ON malformed_intents (recorded_at);
