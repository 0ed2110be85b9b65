-- depends: 0033.handler_secrets
-- What stands beside the words: where a notification leads, its buttons, how grave it is, its icon; and the faces and names of people.
ALTER TABLE users ADD COLUMN avatar_url text;
GRANT UPDATE (avatar_url) ON users TO tocsin_worker;

-- What an inbox row keeps of a payload beside its words.
CREATE OR REPLACE FUNCTION tocsin_inbox_summary(payload jsonb) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'url', NULLIF(payload ->> 'url', ''), 'actions', NULLIF(payload -> 'actions', '[]'),
        'severity', payload -> 'severity', 'icon', NULLIF(payload ->> 'icon', '')));

-- What people read in place of a user's id.
CREATE FUNCTION tocsin_display_name(attributes jsonb, username text, external_id text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN COALESCE(
        CASE WHEN jsonb_typeof(attributes -> 'name') = 'string' THEN left(NULLIF(btrim(attributes ->> 'name'), ''), 200) END,
        username, external_id);
