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

-- Whom an event tells, why and how: the rule of its type, else of the longest beginning of it. No row: it tells nobody.
CREATE FUNCTION tocsin_event_rule(of_tenant uuid, of_type text)
    RETURNS TABLE (rules jsonb, overrides text[], subscribe_actor boolean)
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT event_routing.rules, event_routing.overrides, event_routing.subscribe_actor
    FROM event_routing
    WHERE event_routing.tenant_id = of_tenant
      AND (event_routing.event_type = of_type
           OR right(event_routing.event_type, 1) = '*' AND starts_with(of_type, left(event_routing.event_type, -1)))
    ORDER BY event_routing.event_type = of_type DESC, length(event_routing.event_type) DESC
    LIMIT 1
$$;

-- Whom an event's data names, by the reason that each has to hear of it.
CREATE FUNCTION tocsin_event_named(data jsonb) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'mention', data -> 'mentions', 'review_requested', data -> 'reviewers', 'assign', data -> 'assignees',
        'author', CASE WHEN jsonb_typeof(data -> 'author') = 'string' THEN jsonb_build_array(data -> 'author') END));

-- Who takes part in a thread from an event on: whoever it names, and its actor if that counts; not who is known to the thread already.
CREATE FUNCTION tocsin_newcomers(of_tenant uuid, of_thread_kind text, of_thread_id text, named jsonb, actor uuid)
    RETURNS TABLE (user_id uuid, reason text, rank integer)
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT part.user_id, part.reason, part.rank
    FROM (
        SELECT person.id AS user_id, role.reason,
               array_position(ARRAY['mention', 'review_requested', 'assign', 'author'], role.reason) AS rank
        FROM jsonb_each(named) AS role (reason, members)
        CROSS JOIN LATERAL jsonb_array_elements_text(role.members) AS member (external_id)
        CROSS JOIN LATERAL (
            -- LIMIT, here and below: one probe of the index each; as a join it would read the whole table
            SELECT users.id FROM users WHERE users.tenant_id = of_tenant AND users.external_id = member.external_id LIMIT 1
        ) AS person
        UNION ALL
        SELECT actor, 'comment', 5
        WHERE actor IS NOT NULL
    ) AS part
    LEFT JOIN LATERAL (
        SELECT true AS is_there
        FROM notification_threads AS thread
        WHERE thread.tenant_id = of_tenant AND thread.user_id = part.user_id
          AND thread.thread_kind = of_thread_kind AND thread.thread_id = of_thread_id
        LIMIT 1
    ) AS known ON true
    WHERE of_thread_id IS NOT NULL AND known.is_there IS NULL
$$;
