-- depends: 0003.asked
-- Everything asynchronous is a row here, and only while it is unfinished. The lease columns are in no index and the pages keep
-- room for a second version of every row, so claiming, opening and releasing are HOT updates.
CREATE TABLE outbox (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    source_kind text NOT NULL CHECK (source_kind IN ('plan', 'deliver', 'fanout', 'webhook', 'trigger')),
    notification_id uuid,
    route_id text,
    generation smallint NOT NULL DEFAULT 1,
    payload jsonb,
    due_at timestamptz NOT NULL,
    attempt_count smallint NOT NULL DEFAULT 0,
    max_attempts smallint NOT NULL,
    retry_backoff text NOT NULL CHECK (retry_backoff IN ('exponential', 'linear', 'constant')),
    retry_base_ms integer NOT NULL,
    claim_count smallint NOT NULL DEFAULT 0,
    last_attempt_no smallint NOT NULL DEFAULT 0,
    attempt_open boolean NOT NULL DEFAULT false,
    leased_until timestamptz,
    lease_token uuid,
    nudged_at timestamptz,
    reply_to uuid,
    principal_id uuid,
    trigger_depth smallint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT tocsin_now()
) WITH (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
COMMENT ON COLUMN outbox.claim_count IS 'claims since the last recorded outcome; above three the row is poison';
COMMENT ON COLUMN outbox.attempt_open IS 'an attempt was opened and its answer is not known: sent, or not';
-- the sweep: what is due, soonest first, tenant by tenant
CREATE INDEX outbox_due_idx ON outbox (tenant_id, due_at);

-- The state of a way out, shared by all workers: a lane without a row is open.
CREATE TABLE lanes (
    lane text PRIMARY KEY,
    state text NOT NULL CHECK (state IN ('slowed', 'stopped')),
    reason text NOT NULL,
    resume_at timestamptz NOT NULL,
    strikes smallint NOT NULL DEFAULT 1,
    updated_at timestamptz NOT NULL
);
