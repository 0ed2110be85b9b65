-- depends: 0036.brands
-- What stands around the words of emails, and what several of them share. A version is never changed, as with templates: a route's mail
-- has the versions that were there when it was planned.
CREATE TABLE layouts (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    kind text NOT NULL CHECK (kind IN ('layout', 'partial')),
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    locale text NOT NULL DEFAULT 'default' CHECK (char_length(locale) BETWEEN 1 AND 35),
    version integer NOT NULL CHECK (version > 0),
    body text NOT NULL,
    partials text[] NOT NULL DEFAULT '{}',
    is_active boolean NOT NULL DEFAULT true,
    created_by uuid,
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now()
);
COMMENT ON COLUMN layouts.partials IS 'the names of the partials that its body renders';
CREATE UNIQUE INDEX layouts_version_idx ON layouts (tenant_id, name, locale, version);
CREATE UNIQUE INDEX layouts_active_idx ON layouts (tenant_id, name, locale) WHERE is_active;
CREATE INDEX layouts_listing_idx ON layouts (tenant_id, created_at DESC, id DESC);

ALTER TABLE templates ADD COLUMN layout text, ADD COLUMN partials text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN templates.layout IS 'the name of the layout that its body stands in';
COMMENT ON COLUMN templates.partials IS 'the names of the partials that its body renders';

-- What cannot be rendered is replayed with the versions of that time, not of its planning.
ALTER TABLE routes ADD COLUMN worded_at timestamptz;
COMMENT ON COLUMN routes.worded_at IS 'when its words were chosen anew, if they were';

-- Copies, files and the address for answers, of emails alone; nearly always null.
ALTER TABLE records ADD COLUMN email_options jsonb;

-- The version of a layout or partial that was the newest at a moment (or the first one, where it was made later), in the locale
-- nearest to the one that is wanted.
CREATE FUNCTION tocsin_layout(of_tenant uuid, of_name text, wanted text, at timestamptz) RETURNS TABLE (layout_id uuid)
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT layouts.id
    FROM layouts
    WHERE layouts.tenant_id = of_tenant AND layouts.name = of_name
    ORDER BY layouts.created_at > at, tocsin_locale_distance(layouts.locale, wanted), layouts.locale,
             CASE WHEN layouts.created_at <= at THEN -layouts.version ELSE layouts.version END
    LIMIT 1
$$;

ALTER TABLE layouts ENABLE ROW LEVEL SECURITY;
ALTER TABLE layouts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON layouts TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON layouts TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON layouts TO tocsin_app;
GRANT UPDATE (is_active, updated_at) ON layouts TO tocsin_app;
GRANT SELECT ON layouts TO tocsin_worker;
GRANT SELECT (id, tenant_id, is_active, updated_at), UPDATE (updated_at), DELETE ON layouts TO tocsin_retention;
