-- depends: 0026a.search
-- The over-sending guard: at most so many messages of a type to one address in a window, whoever they are for.
ALTER TABLE notification_types
    ADD COLUMN over_sending_limit integer CHECK (over_sending_limit BETWEEN 1 AND 10000),
    ADD COLUMN over_sending_window_seconds integer CHECK (over_sending_window_seconds BETWEEN 60 AND 86400),
    ADD CONSTRAINT notification_types_over_sending CHECK ((over_sending_limit IS NULL) = (over_sending_window_seconds IS NULL));

-- The log of what was sent to whom has what is guarded too: by the hash of its address, and so without a user where there is none.
-- (Not validated: every row of before has its user and no hash.)
ALTER TABLE notification_email_log
    ALTER COLUMN recipient_user_id DROP NOT NULL,
    ADD COLUMN address_hash bytea,
    ADD CONSTRAINT notification_email_log_address_hash CHECK (octet_length(address_hash) = 32) NOT VALID,
    ADD CONSTRAINT notification_email_log_recipient
        CHECK (recipient_user_id IS NOT NULL OR address_hash IS NOT NULL) NOT VALID;

-- Calls of the API are counted after they were let in, a few at a time: there the limit is told, not a condition of the commit.
ALTER TABLE rate_limits
    DROP CONSTRAINT rate_limits_within,
    ADD CONSTRAINT rate_limits_within CHECK (limit_type = 'api' OR request_count <= max_count) NOT VALID;

-- What a tenant may do at most, if its settings say so; a number that makes no sense does not count.
CREATE FUNCTION tocsin_cap(settings jsonb, name text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN jsonb_typeof(settings -> 'caps' -> name) = 'number'
                THEN CASE WHEN (settings -> 'caps' -> name)::numeric BETWEEN 1 AND 1000000
                          THEN trunc((settings -> 'caps' -> name)::numeric)::integer END END;
