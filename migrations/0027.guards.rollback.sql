DROP FUNCTION tocsin_cap(jsonb, text);
ALTER TABLE rate_limits NO FORCE ROW LEVEL SECURITY;
DELETE FROM rate_limits WHERE request_count > max_count;
ALTER TABLE rate_limits FORCE ROW LEVEL SECURITY;
ALTER TABLE rate_limits
    DROP CONSTRAINT rate_limits_within,
    ADD CONSTRAINT rate_limits_within CHECK (request_count <= max_count);
ALTER TABLE notification_email_log NO FORCE ROW LEVEL SECURITY;
DELETE FROM notification_email_log WHERE recipient_user_id IS NULL;
ALTER TABLE notification_email_log FORCE ROW LEVEL SECURITY;
ALTER TABLE notification_email_log
    DROP CONSTRAINT notification_email_log_recipient,
    DROP COLUMN address_hash,
    ALTER COLUMN recipient_user_id SET NOT NULL;
ALTER TABLE notification_types DROP COLUMN over_sending_limit, DROP COLUMN over_sending_window_seconds;
