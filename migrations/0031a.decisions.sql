-- transactional: false
-- depends: 0031.search
-- What was decided lately, over all notifications (GET /v1/decisions). Routes and tries of one time lie close together, so a summary per
-- stretch of the table (BRIN) finds a few seconds of them, and settling stays a HOT update, which only widens its bounds. Few records are
-- ever cancelled; all others are not in that index. A build that was cut off leaves an index that nobody uses: the next run begins anew.
DROP INDEX CONCURRENTLY IF EXISTS routes_changed_idx;
CREATE INDEX CONCURRENTLY IF NOT EXISTS routes_changed_idx ON routes USING brin (created_at, updated_at) WITH (autosummarize = on);
DROP INDEX CONCURRENTLY IF EXISTS attempts_time_idx;
CREATE INDEX CONCURRENTLY IF NOT EXISTS attempts_time_idx ON attempts USING brin (started_at, finished_at)
    WITH (pages_per_range = 32, autosummarize = on);
DROP INDEX CONCURRENTLY IF EXISTS records_cancelled_idx;
CREATE INDEX CONCURRENTLY IF NOT EXISTS records_cancelled_idx ON records (tenant_id, cancelled_at) WHERE cancelled_at IS NOT NULL;
