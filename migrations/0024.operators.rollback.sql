REVOKE SELECT (consumer, last_event_id, last_txid, updated_at) ON domain_events_processed FROM tocsin_app;
DROP POLICY of_the_installation ON domain_events_processed;

REVOKE UPDATE (resolved_at, resolution, resolution_reason, notification_id, resolved_by) ON malformed_intents FROM tocsin_app;
ALTER TABLE malformed_intents
    DROP COLUMN resolved_at, DROP COLUMN resolution, DROP COLUMN resolution_reason, DROP COLUMN notification_id,
    DROP COLUMN resolved_by;

DROP TRIGGER say_resolved ON admin_system_events;
DROP TRIGGER say_raised ON admin_system_events;
DROP FUNCTION tocsin_say_system_event();
REVOKE UPDATE (resolved_by, resolution_reason) ON admin_system_events FROM tocsin_app;
DROP POLICY of_the_installation ON admin_system_events;
DROP POLICY shared_events ON admin_system_events;
CREATE POLICY shared_events ON admin_system_events FOR SELECT TO tocsin_app USING (tenant_id IS NULL);
ALTER TABLE admin_system_events DROP CONSTRAINT admin_system_events_words_bounded;
ALTER TABLE admin_system_events DROP CONSTRAINT admin_system_events_details_bounded;
COMMENT ON COLUMN admin_system_events.user_id IS NULL;
COMMENT ON COLUMN admin_system_events.resolved_by IS NULL;
ALTER TABLE admin_system_events DROP COLUMN resolution_reason, DROP COLUMN created_by;

REVOKE UPDATE (nudged_at) ON outbox FROM tocsin_app;
REVOKE SELECT, DELETE ON lanes FROM tocsin_app;
DROP POLICY of_the_installation ON lanes;
DROP POLICY shared_lanes ON lanes;
DROP POLICY own_tenant ON lanes;
DROP FUNCTION tocsin_is_installation();
ALTER TABLE lanes DROP COLUMN since, DROP COLUMN tenant_id;
DROP FUNCTION tocsin_is_shared_lane(text);
