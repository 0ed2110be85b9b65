-- transactional: false
-- depends: 0028.metrics
-- When routes were published or skipped, for the hourly roll-up. A summary per stretch of the table (BRIN) and not a B-tree, because it
-- lets settling stay a HOT update: Postgres 16 and later only widen the stretch's bounds. Routes of one time lie close together, so an
-- hour is a few stretches. A build that was cut off leaves an index that nobody uses: the next run begins anew.
DROP INDEX CONCURRENTLY IF EXISTS routes_time_idx;
CREATE INDEX CONCURRENTLY IF NOT EXISTS routes_time_idx ON routes USING brin (published_at, skipped_at) WITH (autosummarize = on);
