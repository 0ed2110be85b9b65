-- transactional: false
DROP INDEX CONCURRENTLY IF EXISTS records_email_options_idx;
