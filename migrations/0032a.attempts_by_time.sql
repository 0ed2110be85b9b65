-- transactional: false
-- depends: 0031a.decisions
-- When tries began, for the charts of what happens now. A summary per stretch of the table (BRIN): tries are written in the order of their
-- times, and finishing one stays a HOT update. A build that was cut off leaves an index that nobody uses: the next run begins anew.
DROP INDEX CONCURRENTLY IF EXISTS attempts_time_idx;
CREATE INDEX CONCURRENTLY IF NOT EXISTS attempts_time_idx ON attempts USING brin (started_at) WITH (autosummarize = on);
