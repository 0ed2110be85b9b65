-- transactional: false
-- depends: 0037.layouts
-- erasing a person finds the mails that they got a copy of
CREATE INDEX CONCURRENTLY IF NOT EXISTS records_email_options_idx
    ON records (tenant_id, accepted_at) WHERE email_options IS NOT NULL;
