DROP FUNCTION tocsin_is_later(timestamptz, bigint, timestamptz, bigint);
ALTER TABLE notifications DROP COLUMN told_at;
ALTER TABLE domain_events_processed ADD COLUMN current_event_id bigint, ADD COLUMN after_user_id uuid;
ALTER TABLE domain_events_processed
    ADD CONSTRAINT domain_events_processed_place CHECK ((current_event_id IS NULL) = (after_user_id IS NULL));
CREATE INDEX outbox_due_idx ON outbox (tenant_id, due_at);
DROP INDEX outbox_queue_idx;
ALTER TABLE outbox DROP COLUMN priority, DROP COLUMN queue;
DROP FUNCTION tocsin_priority(text);
