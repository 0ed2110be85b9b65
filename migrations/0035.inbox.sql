-- depends: 0034.display
-- What people read instead of a type's name.
ALTER TABLE notification_types
    ADD COLUMN title text CHECK (char_length(title) BETWEEN 1 AND 100),
    ADD COLUMN description text CHECK (char_length(description) BETWEEN 1 AND 200);

-- When a person last looked at their inbox: what was last shown before is seen. Seen is not read: it says nothing of a single row.
CREATE TABLE inbox_visits (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);
ALTER TABLE inbox_visits ENABLE ROW LEVEL SECURITY;
ALTER TABLE inbox_visits FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON inbox_visits TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON inbox_visits TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON inbox_visits TO tocsin_app;
GRANT SELECT (tenant_id), DELETE ON inbox_visits TO tocsin_retention;

-- Whether a person wants a type on a channel: what they said of the type, else of the channel, else yes. A type of the priority
-- critical is not switched off by itself: there a no does not count, only the channel's.
CREATE FUNCTION tocsin_wanted(of_the_type boolean, of_the_channel boolean, priority text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN COALESCE(CASE WHEN of_the_type OR priority IS DISTINCT FROM 'critical' THEN of_the_type END, of_the_channel, true);

-- The same for the inbox, in one probe; the type is looked at only where it was switched off.
CREATE OR REPLACE FUNCTION tocsin_inbox_wanted(of_tenant uuid, of_user uuid, of_type text) RETURNS TABLE (is_wanted boolean)
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT COALESCE((
        SELECT preferences.enabled
        FROM preferences
        WHERE preferences.tenant_id = of_tenant AND preferences.user_id = of_user AND preferences.channel = 'in_app'
          AND preferences.notification_type IN ('', of_type) AND preferences.enabled IS NOT NULL
          AND (preferences.enabled OR preferences.notification_type = '' OR NOT EXISTS (
              SELECT FROM notification_types AS kind
              WHERE kind.tenant_id = of_tenant AND kind.name = of_type AND kind.priority = 'critical'))
        ORDER BY preferences.notification_type DESC
        LIMIT 1), true)
$$;
