CREATE OR REPLACE FUNCTION tocsin_inbox_wanted(of_tenant uuid, of_user uuid, of_type text) RETURNS TABLE (is_wanted boolean)
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT COALESCE((
        SELECT preferences.enabled
        FROM preferences
        WHERE preferences.tenant_id = of_tenant AND preferences.user_id = of_user AND preferences.channel = 'in_app'
          AND preferences.notification_type IN ('', of_type) AND preferences.enabled IS NOT NULL
        ORDER BY preferences.notification_type DESC
        LIMIT 1), true)
$$;
DROP FUNCTION tocsin_wanted(boolean, boolean, text);
DROP TABLE inbox_visits;
ALTER TABLE notification_types DROP COLUMN description, DROP COLUMN title;
