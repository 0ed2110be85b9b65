-- depends: 0015.crowds
-- Rules that several statements follow, each written once. They are small and plain, so that the planner writes them into the statement
-- that calls them; they run as whoever calls, under that one's row-level security.

-- Which version of a template: the active one whose locale is nearest.
CREATE FUNCTION tocsin_wording(of_tenant uuid, of_name text, of_channel text, wanted text) RETURNS TABLE (template_id uuid)
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT templates.id
    FROM templates
    WHERE templates.tenant_id = of_tenant AND templates.name = of_name AND templates.channel = of_channel AND templates.is_active
    ORDER BY tocsin_locale_distance(templates.locale, wanted), templates.created_at
    LIMIT 1
$$;

-- What stands in the way of a channel before anything is sent; empty when nothing does.
CREATE FUNCTION tocsin_obstacle(
    channel text, template text, template_id uuid, email text, phone text, device_id uuid, user_id uuid) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN template IS NOT NULL AND channel <> 'in_app' AND template_id IS NULL THEN 'no_template'
        WHEN channel = 'email' AND email IS NULL THEN 'no_address'
        WHEN channel = 'sms' AND phone IS NULL THEN 'no_address'
        WHEN channel = 'push' AND device_id IS NULL THEN 'no_address'
        WHEN channel = 'in_app' AND user_id IS NULL THEN 'no_address'
        ELSE ''
    END;

-- Whether a person wants a type in the inbox: what they said of the type, else of the inbox, else yes. (The other channels' preferences
-- are for the gate, at the time of sending; the inbox has no other time than now.)
CREATE FUNCTION tocsin_inbox_wanted(of_tenant uuid, of_user uuid, of_type text) RETURNS TABLE (is_wanted boolean)
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

-- What an inbox row keeps of a payload beside its words.
CREATE FUNCTION tocsin_inbox_summary(payload jsonb) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN jsonb_strip_nulls(jsonb_build_object('url', NULLIF(payload ->> 'url', '')));

-- What folds into one inbox row of a person: what belongs to one thread; without a thread, each by itself. Whoever writes inbox rows
-- writes them in the order of (tenant, person, fold), so that two writers never wait for each other in a ring.
CREATE FUNCTION tocsin_inbox_fold(thread_kind text, thread_id text, otherwise text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN COALESCE(thread_kind || chr(31) || thread_id, otherwise);
