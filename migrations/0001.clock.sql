-- The one clock. Due times, leases and windows are decided by the database, never by a worker's own clock.
-- Tests (and nothing else) move it with the setting tocsin.clock_offset, for example '20 minutes'.
CREATE FUNCTION tocsin_now() RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN statement_timestamp()
        + COALESCE(NULLIF(current_setting('tocsin.clock_offset', true), ''), '0')::interval;

-- The tenant of this transaction, as the transaction helper set it. Unset is an error, never "all" and never "none".
CREATE FUNCTION tocsin_tenant() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN current_setting('tocsin.tenant')::uuid;

-- Time-ordered ids for rows that one statement makes in number (Postgres 17 has no uuidv7 of its own).
CREATE FUNCTION tocsin_uuid7() RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN encode(
        set_bit(set_bit(
            overlay(uuid_send(gen_random_uuid())
                    PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
            52, 1), 53, 1),
        'hex')::uuid;
