-- depends: 0026.tenants
-- transactional: false
-- Those who were there before get their key, a few at a time.
DO $$
BEGIN
    LOOP
        UPDATE users SET email_key = lower(email)
        WHERE id = ANY(ARRAY(SELECT id FROM users WHERE email IS NOT NULL AND email_key IS NULL LIMIT 10000));
        EXIT WHEN NOT FOUND;
        COMMIT;
    END LOOP;
    LOOP
        UPDATE records SET address_email = NULL
        WHERE notification_id = ANY(ARRAY(
            SELECT notification_id FROM records
            WHERE audience_kind = 'address' AND address_email IS NULL AND address_phone IS NULL AND audience IS NOT NULL
            LIMIT 10000));
        EXIT WHEN NOT FOUND;
        COMMIT;
    END LOOP;
END $$;
-- Looking people up by the beginning of what is known of them, whatever the collation; emails however they are written.
CREATE INDEX CONCURRENTLY IF NOT EXISTS users_external_id_search_idx ON users (tenant_id, external_id text_pattern_ops);
CREATE INDEX CONCURRENTLY IF NOT EXISTS users_email_search_idx ON users (tenant_id, email_key text_pattern_ops) WHERE email_key IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS users_username_search_idx ON users (tenant_id, username text_pattern_ops) WHERE username IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS users_phone_search_idx ON users (tenant_id, phone text_pattern_ops) WHERE phone IS NOT NULL;
-- erasing a person: what was asked for their bare address
CREATE INDEX CONCURRENTLY IF NOT EXISTS records_email_idx ON records (tenant_id, address_email) WHERE address_email IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS records_phone_idx ON records (tenant_id, address_phone) WHERE address_phone IS NOT NULL;
