REVOKE INSERT ON records FROM tocsin_worker;
DELETE FROM records WHERE audience_kind IN ('event', 'digest');
ALTER TABLE records DROP CONSTRAINT records_audience_kind_check;
ALTER TABLE records ADD CONSTRAINT records_audience_kind_check
    CHECK (audience_kind IN ('users', 'address', 'tenant', 'thread', 'scope'));
ALTER TABLE routes DROP COLUMN audience_reason;
DROP FUNCTION tocsin_audience(uuid, text, text, text, jsonb, text[], uuid, integer);
DROP TABLE notification_threads;
DROP TABLE watches;
DROP TABLE event_routing;
DROP TABLE domain_events_processed;
DROP TABLE domain_events;
