REVOKE INSERT (id, tenant_id, external_id), UPDATE (email, username, phone, locale, timezone, attributes, updated_at) ON users FROM tocsin_worker;
