-- depends: 0023.replays
-- transactional: false
-- The lists of dead letters, whatever they are asked for, are stretches of an index. Built beside the writers.
ALTER TABLE outbox VALIDATE CONSTRAINT outbox_source_kind_check;
ALTER TABLE dead_letters VALIDATE CONSTRAINT dead_letters_reason_bound;
ALTER TABLE dead_letters VALIDATE CONSTRAINT dead_letters_replayed_as;

-- what waits for a person, newest first; and the badge: how many
CREATE INDEX CONCURRENTLY IF NOT EXISTS dead_letters_waiting_idx ON dead_letters (tenant_id, created_at DESC, id DESC)
    WHERE resolution IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS dead_letters_unresolved_idx;
-- the same of one cause
CREATE INDEX CONCURRENTLY IF NOT EXISTS dead_letters_cause_idx ON dead_letters (
    tenant_id, failure_classification, source_kind, channel, provider, provider_code, created_at DESC, id DESC)
    WHERE resolution IS NULL;
-- what was resolved in one way
CREATE INDEX CONCURRENTLY IF NOT EXISTS dead_letters_resolved_idx ON dead_letters (tenant_id, resolution, created_at DESC, id DESC)
    WHERE resolution IS NOT NULL;
-- of one person; of one type of notification; of one trigger
CREATE INDEX CONCURRENTLY IF NOT EXISTS dead_letters_recipient_idx ON dead_letters (tenant_id, recipient_ref, created_at DESC, id DESC)
    WHERE recipient_ref <> '';
CREATE INDEX CONCURRENTLY IF NOT EXISTS dead_letters_type_idx ON dead_letters (tenant_id, notification_type, created_at DESC, id DESC)
    WHERE notification_type <> '';
CREATE INDEX CONCURRENTLY IF NOT EXISTS dead_letters_trigger_idx ON dead_letters (tenant_id, trigger_id, created_at DESC, id DESC)
    WHERE trigger_id IS NOT NULL;
-- what became of a replay
CREATE INDEX CONCURRENTLY IF NOT EXISTS dead_letters_outbox_idx ON dead_letters (outbox_id, generation);
-- notifications whose plan, or the rest of whose audience, is dead: newest first, as all lists of notifications
CREATE INDEX CONCURRENTLY IF NOT EXISTS dead_letters_unplanned_idx ON dead_letters (tenant_id, accepted_at DESC, notification_id DESC)
    WHERE source_kind IN ('plan', 'fanout') AND accepted_at IS NOT NULL AND resolution IS DISTINCT FROM 'replayed';
