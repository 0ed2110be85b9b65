-- transactional: false
DROP INDEX CONCURRENTLY records_phone_idx;
DROP INDEX CONCURRENTLY records_email_idx;
DROP INDEX CONCURRENTLY users_phone_search_idx;
DROP INDEX CONCURRENTLY users_username_search_idx;
DROP INDEX CONCURRENTLY users_email_search_idx;
DROP INDEX CONCURRENTLY users_external_id_search_idx;
