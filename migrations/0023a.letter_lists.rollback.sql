-- transactional: false
DROP INDEX CONCURRENTLY IF EXISTS dead_letters_unplanned_idx;
DROP INDEX CONCURRENTLY IF EXISTS dead_letters_outbox_idx;
DROP INDEX CONCURRENTLY IF EXISTS dead_letters_trigger_idx;
DROP INDEX CONCURRENTLY IF EXISTS dead_letters_type_idx;
DROP INDEX CONCURRENTLY IF EXISTS dead_letters_recipient_idx;
DROP INDEX CONCURRENTLY IF EXISTS dead_letters_resolved_idx;
DROP INDEX CONCURRENTLY IF EXISTS dead_letters_cause_idx;
CREATE INDEX CONCURRENTLY IF NOT EXISTS dead_letters_unresolved_idx ON dead_letters (tenant_id) WHERE resolution IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS dead_letters_waiting_idx;
ALTER TABLE dead_letters
    DROP CONSTRAINT dead_letters_reason_bound, DROP CONSTRAINT dead_letters_replayed_as,
    ADD CONSTRAINT dead_letters_reason_bound CHECK (char_length(resolution_reason) <= 500) NOT VALID,
    ADD CONSTRAINT dead_letters_replayed_as CHECK (replayed_as IS NULL OR resolution = 'replayed') NOT VALID;
ALTER TABLE outbox
    DROP CONSTRAINT outbox_source_kind_check,
    ADD CONSTRAINT outbox_source_kind_check
        CHECK (source_kind IN ('plan', 'deliver', 'fanout', 'webhook', 'trigger', 'replay')) NOT VALID;
