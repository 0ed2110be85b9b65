REVOKE INSERT ON audit_logs FROM tocsin_worker;
REVOKE UPDATE (outcome) ON domain_events FROM tocsin_app;
REVOKE UPDATE (resolution_reason, replayed_as) ON dead_letters FROM tocsin_worker;
REVOKE UPDATE (resolution, resolved_at, resolved_by, resolution_reason, replayed_as) ON dead_letters FROM tocsin_app;
DELETE FROM outbox WHERE source_kind = 'replay';
ALTER TABLE outbox DROP CONSTRAINT outbox_source_kind_check;
ALTER TABLE outbox ADD CONSTRAINT outbox_source_kind_check
    CHECK (source_kind IN ('plan', 'deliver', 'fanout', 'webhook', 'trigger'));
DROP TABLE jobs;
ALTER TABLE dead_letters
    DROP COLUMN notification_type,
    DROP COLUMN template_id,
    DROP COLUMN accepted_at,
    DROP COLUMN resolution_reason,
    DROP COLUMN replayed_as;
COMMENT ON COLUMN dead_letters.resolved_by IS NULL;
