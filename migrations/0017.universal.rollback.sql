ALTER TABLE outbox DROP COLUMN first_claimed_at;
ALTER TABLE dead_letters
    DROP COLUMN queue, DROP COLUMN priority, DROP COLUMN payload, DROP COLUMN retry_backoff, DROP COLUMN retry_base_ms,
    DROP COLUMN principal_id, DROP COLUMN trigger_depth, DROP COLUMN provider, DROP COLUMN provider_code,
    DROP COLUMN first_attempt_at, DROP COLUMN last_attempt_at;
