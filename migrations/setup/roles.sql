-- The roles, before the first migration: they belong to the server, not to one database, so no migration makes or drops them.
-- The one who runs this owns the tables. The three below own nothing, so row-level security binds them:
--   tocsin_app        the HTTP doors and the intake queue: one tenant at a time
--   tocsin_worker     dispatch and sweep: every tenant, may not delete what people asked for
--   tocsin_retention  the only one that may delete expired rows of every tenant
DO $$
DECLARE
    role_name text;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['tocsin_app', 'tocsin_worker', 'tocsin_retention'] LOOP
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
                EXECUTE format('CREATE ROLE %I LOGIN', role_name);
            END IF;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;  -- another migration run on this server was quicker
        END;
    END LOOP;
END $$;

-- A statement or a lock that takes longer is given up by the server, whatever the worker is doing. Intake's lock_timeout is how long
-- a request waits for another one with the same idempotency key.
ALTER ROLE tocsin_app SET lock_timeout = '2s';
ALTER ROLE tocsin_app SET statement_timeout = '8s';
ALTER ROLE tocsin_app SET idle_in_transaction_session_timeout = '15s';
ALTER ROLE tocsin_worker SET lock_timeout = '5s';
ALTER ROLE tocsin_worker SET statement_timeout = '25s';
ALTER ROLE tocsin_worker SET idle_in_transaction_session_timeout = '30s';
ALTER ROLE tocsin_retention SET lock_timeout = '5s';
ALTER ROLE tocsin_retention SET statement_timeout = '60s';
ALTER ROLE tocsin_retention SET idle_in_transaction_session_timeout = '60s';

-- The worker and retention only ever look up a batch by keys. Right after a bulk load, before the tables are analysed, the planner would rather read
-- them whole; told not to, it keeps to the indexes whatever it believes about their size.
ALTER ROLE tocsin_worker SET enable_seqscan = off;
ALTER ROLE tocsin_retention SET enable_seqscan = off;

-- Our statements are long and their rows few, while the planner expects thousands of each JSON parameter: it would compile them, at
-- hundreds of milliseconds a time, to save microseconds.
ALTER ROLE tocsin_app SET jit = off;
ALTER ROLE tocsin_worker SET jit = off;
ALTER ROLE tocsin_retention SET jit = off;
