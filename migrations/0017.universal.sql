-- depends: 0016.rules
-- Whatever kind of work is given up on, its dead letter keeps what a replay needs: the work as it was, and what was tried.
ALTER TABLE dead_letters
    ADD COLUMN queue text NOT NULL DEFAULT '',
    ADD COLUMN priority smallint NOT NULL DEFAULT 3,
    ADD COLUMN payload jsonb,
    ADD COLUMN retry_backoff text NOT NULL DEFAULT 'exponential',
    ADD COLUMN retry_base_ms integer NOT NULL DEFAULT 5000,
    ADD COLUMN principal_id uuid,
    ADD COLUMN trigger_depth smallint NOT NULL DEFAULT 0,
    ADD COLUMN provider text NOT NULL DEFAULT '',
    ADD COLUMN provider_code text NOT NULL DEFAULT '',
    ADD COLUMN first_attempt_at timestamptz,
    ADD COLUMN last_attempt_at timestamptz;
COMMENT ON COLUMN dead_letters.payload IS 'of the outbox row: what the work was to do, or how far it had come';
COMMENT ON COLUMN dead_letters.provider_code IS 'what the provider called the last failure';
COMMENT ON COLUMN dead_letters.first_attempt_at IS 'of a route: its first attempt; of other work: when a worker first took it on';

ALTER TABLE outbox ADD COLUMN first_claimed_at timestamptz;
