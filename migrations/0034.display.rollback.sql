DROP FUNCTION tocsin_display_name(jsonb, text, text);
CREATE OR REPLACE FUNCTION tocsin_inbox_summary(payload jsonb) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN jsonb_strip_nulls(jsonb_build_object('url', NULLIF(payload ->> 'url', '')));
ALTER TABLE users DROP COLUMN avatar_url;
