-- transactional: false
-- depends: 0030.persons
-- the list of what was done in one person's name, newest first
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_logs_person_idx
    ON audit_logs (tenant_id, person, created_at DESC, id DESC) WHERE person IS NOT NULL;
ALTER TABLE audit_logs VALIDATE CONSTRAINT audit_logs_person_bound;
