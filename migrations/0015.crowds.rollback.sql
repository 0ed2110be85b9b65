CREATE OR REPLACE FUNCTION tocsin_audience(
    of_tenant uuid, of_scope text, of_thread_kind text, of_thread_id text, named jsonb, reasons text[], after_user uuid,
    most integer)
    RETURNS TABLE (user_id uuid, reason text, is_muted boolean)
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT chosen.user_id,
           (ARRAY['mention', 'review_requested', 'assign', 'author', 'comment', 'subscribed', 'watching'])[chosen.rank],
           COALESCE(NOT own.subscribed, false)
               OR COALESCE(watch.level = 'ignore', false) AND NOT COALESCE(own.subscribed AND own.reason = 'manual', false)
    FROM (
        SELECT candidate.user_id, min(candidate.rank) AS rank
        FROM (
            SELECT users.id AS user_id,
                   array_position(ARRAY['mention', 'review_requested', 'assign', 'author'], role.reason) AS rank
            FROM jsonb_each(named) AS role (reason, members)
            CROSS JOIN LATERAL jsonb_array_elements_text(role.members) AS member (external_id)
            JOIN users ON users.tenant_id = of_tenant AND users.external_id = member.external_id
            WHERE role.reason = ANY(reasons)
              AND users.id > COALESCE(after_user, '00000000-0000-0000-0000-000000000000')
            UNION ALL
            (SELECT thread.user_id, CASE thread.reason WHEN 'author' THEN 4 WHEN 'comment' THEN 5 ELSE 6 END
             FROM notification_threads AS thread
             WHERE thread.tenant_id = of_tenant AND thread.thread_kind = of_thread_kind AND thread.thread_id = of_thread_id
               AND thread.subscribed
               AND CASE WHEN thread.reason IN ('author', 'comment') THEN thread.reason ELSE 'subscribed' END = ANY(reasons)
               AND thread.user_id > COALESCE(after_user, '00000000-0000-0000-0000-000000000000')
             ORDER BY thread.user_id
             LIMIT most)
            UNION ALL
            (SELECT watches.user_id, 7
             FROM watches
             WHERE 'watching' = ANY(reasons)
               AND watches.tenant_id = of_tenant AND watches.scope = of_scope AND watches.level = 'all'
               AND watches.user_id > COALESCE(after_user, '00000000-0000-0000-0000-000000000000')
             ORDER BY watches.user_id
             LIMIT most)
        ) AS candidate
        GROUP BY candidate.user_id
        ORDER BY candidate.user_id
        LIMIT most
    ) AS chosen
    LEFT JOIN notification_threads AS own
        ON own.tenant_id = of_tenant AND own.user_id = chosen.user_id
        AND own.thread_kind = of_thread_kind AND own.thread_id = of_thread_id
    LEFT JOIN watches AS watch
        -- who is here for the watch alone does not ignore the scope
        ON watch.tenant_id = of_tenant AND watch.user_id = CASE WHEN chosen.rank < 7 THEN chosen.user_id END
        AND watch.scope = of_scope
$$;
