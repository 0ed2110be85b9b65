-- depends: 0027a.guarded
-- How much was sent, failed and waits, rolled up by hour and by day from the rows themselves (docs/metrics.md has the definitions).
CREATE TABLE metrics (
    id uuid PRIMARY KEY DEFAULT tocsin_uuid7(),
    tenant_id uuid NOT NULL,
    mode text NOT NULL CHECK (mode IN ('live', 'test')),
    date date NOT NULL,
    hour smallint CHECK (hour BETWEEN 0 AND 23),
    provider text NOT NULL,
    channel text NOT NULL CHECK (channel IN ('email', 'sms', 'push', 'in_app', 'webhook')),
    total_sent integer NOT NULL DEFAULT 0 CHECK (total_sent >= 0),
    total_failed integer NOT NULL DEFAULT 0 CHECK (total_failed >= 0),
    total_skipped integer NOT NULL DEFAULT 0 CHECK (total_skipped >= 0),
    total_pending integer NOT NULL DEFAULT 0 CHECK (total_pending >= 0),
    total_delivery_ms bigint NOT NULL DEFAULT 0 CHECK (total_delivery_ms >= 0),
    avg_delivery_ms bigint GENERATED ALWAYS AS (total_delivery_ms / NULLIF(total_sent, 0)) STORED,
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now(),
    -- also how a tenant's days and hours are listed
    CONSTRAINT metrics_key UNIQUE NULLS NOT DISTINCT (tenant_id, date, hour, mode, provider, channel)
) WITH (fillfactor = 80);
COMMENT ON COLUMN metrics.hour IS 'of the day in UTC; NULL: the whole day';
COMMENT ON COLUMN metrics.provider IS 'who took it, or was tried last; empty: nobody was asked';
COMMENT ON COLUMN metrics.total_delivery_ms IS 'of all that were sent together, so that averages of averages are exact';
-- the roll-up and retention: every tenant's hours, and days
CREATE INDEX metrics_date_idx ON metrics (date, hour) WHERE hour IS NOT NULL;
CREATE INDEX metrics_day_idx ON metrics (date) WHERE hour IS NULL;
-- one provider's, one channel's numbers
CREATE INDEX metrics_provider_idx ON metrics (tenant_id, provider, date, hour);
CREATE INDEX metrics_channel_idx ON metrics (tenant_id, channel, date, hour);
-- the roll-up: what waited when it last looked
CREATE INDEX metrics_pending_idx ON metrics (date) WHERE total_pending > 0;

ALTER TABLE metrics ENABLE ROW LEVEL SECURITY;
ALTER TABLE metrics FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON metrics FOR SELECT TO tocsin_app USING (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON metrics TO tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT ON metrics TO tocsin_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON metrics TO tocsin_retention;
