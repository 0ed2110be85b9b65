ALTER TABLE trigger_handlers
    DROP CONSTRAINT trigger_handlers_previous_secret,
    DROP COLUMN previous_secret_expires_at,
    DROP COLUMN previous_secret;
