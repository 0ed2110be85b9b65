DROP TABLE audit_logs;
DROP TABLE provider_events;
DROP TABLE suppressions;
DROP FUNCTION tocsin_address_hash(uuid, text, text);
