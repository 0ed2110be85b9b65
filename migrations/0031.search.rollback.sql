-- transactional: false
CREATE INDEX CONCURRENTLY IF NOT EXISTS records_phone_idx ON records (tenant_id, address_phone) WHERE address_phone IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS records_email_idx ON records (tenant_id, address_email) WHERE address_email IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS records_to_phone_idx;
DROP INDEX CONCURRENTLY IF EXISTS records_to_email_idx;
DROP INDEX CONCURRENTLY IF EXISTS routes_message_idx;
DROP INDEX CONCURRENTLY IF EXISTS records_key_idx;
