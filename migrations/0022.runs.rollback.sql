REVOKE INSERT, UPDATE (is_resolved, resolved_at) ON admin_system_events FROM tocsin_retention;
DROP TABLE job_runs;
