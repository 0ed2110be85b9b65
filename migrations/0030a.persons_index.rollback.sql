ALTER TABLE audit_logs
    DROP CONSTRAINT audit_logs_person_bound,
    ADD CONSTRAINT audit_logs_person_bound CHECK (char_length(person) BETWEEN 1 AND 100) NOT VALID;
DROP INDEX audit_logs_person_idx;
