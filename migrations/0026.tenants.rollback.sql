REVOKE DELETE ON tenants, audit_heads FROM tocsin_retention;
REVOKE SELECT (tenant_id), DELETE ON api_keys, devices, event_routing, kv_entries, kv_usage, kv_trigger_details,
    dead_letter_trigger_details, notification_reads, notification_types, preferences, provider_configs, templates,
    trigger_handlers, triggers, watches, webhooks FROM tocsin_retention;
REVOKE SELECT (tenant_id, id), DELETE ON users FROM tocsin_retention;
REVOKE UPDATE (updated_at) ON webhooks FROM tocsin_retention;
REVOKE INSERT ON outbox, webhook_deliveries, abandoned_executions FROM tocsin_retention;
REVOKE UPDATE (payload, response_body) ON webhook_deliveries FROM tocsin_retention;
REVOKE UPDATE (arguments) ON jobs FROM tocsin_retention;
REVOKE UPDATE (resolution_reason) ON dead_letters, malformed_intents, admin_system_events FROM tocsin_retention;
REVOKE UPDATE ON records, routes, suppressions FROM tocsin_retention;
GRANT UPDATE (holds_key, updated_at) ON records TO tocsin_retention;
GRANT UPDATE (updated_at) ON routes TO tocsin_retention;
GRANT UPDATE (expires_at) ON suppressions TO tocsin_retention;
REVOKE DELETE ON notifications FROM tocsin_app;
REVOKE UPDATE (payload) ON outbox FROM tocsin_app, tocsin_retention;
REVOKE UPDATE (description, details, user_id) ON admin_system_events FROM tocsin_app;
REVOKE UPDATE (description, user_id) ON admin_system_events FROM tocsin_retention;
REVOKE UPDATE (outcome) ON abandoned_executions FROM tocsin_app;
REVOKE UPDATE (raw_fields, failure_message, idempotency_key) ON malformed_intents FROM tocsin_app;
REVOKE UPDATE (raw_fields, idempotency_key) ON malformed_intents FROM tocsin_retention;
DROP POLICY erasing ON provider_events;
REVOKE UPDATE (detail) ON provider_events FROM tocsin_app;
REVOKE UPDATE (data, actor_user_id) ON domain_events FROM tocsin_app, tocsin_retention;
REVOKE UPDATE (recipient_ref, failure_message, payload) ON dead_letters FROM tocsin_app, tocsin_retention;
REVOKE UPDATE (error_message) ON attempts FROM tocsin_app, tocsin_retention;
DROP TABLE erasures;
DROP TRIGGER address_keys ON records;
DROP FUNCTION tocsin_address_keys();
ALTER TABLE records DROP COLUMN address_email, DROP COLUMN address_phone;
DROP TRIGGER email_key ON users;
DROP FUNCTION tocsin_email_key();
ALTER TABLE users DROP COLUMN email_key;
REVOKE UPDATE (name, settings, status, suspended_at, suspended_reason, deletion_requested_at, updated_at) ON tenants FROM tocsin_app;
REVOKE INSERT ON tenants FROM tocsin_app;
DROP POLICY by_the_installation ON tenants;
DROP POLICY of_the_installation ON tenants;
DROP POLICY own_tenant ON tenants;
CREATE POLICY own_tenant ON tenants TO tocsin_app USING (id = (SELECT tocsin_tenant()));
ALTER TABLE tenants
    DROP COLUMN status, DROP COLUMN suspended_at, DROP COLUMN suspended_reason, DROP COLUMN deletion_requested_at,
    DROP COLUMN updated_at;
