-- transactional: false
DROP INDEX CONCURRENTLY IF EXISTS records_cancelled_idx;
DROP INDEX CONCURRENTLY IF EXISTS attempts_time_idx;
DROP INDEX CONCURRENTLY IF EXISTS routes_changed_idx;
