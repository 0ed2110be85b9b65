-- depends: 0031a.decisions
-- Users who come with what is sent to them (audience.user_ids): also with the intent of a trigger, which the worker accepts for its key.
GRANT INSERT (id, tenant_id, external_id), UPDATE (email, username, phone, locale, timezone, attributes, updated_at) ON users TO tocsin_worker;
