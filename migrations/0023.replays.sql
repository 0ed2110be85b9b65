-- depends: 0022.runs
-- What died can be replayed, or laid aside with a reason: one letter, or all that a filter finds, as a job that shows its progress.
ALTER TABLE dead_letters
    ADD COLUMN notification_type text NOT NULL DEFAULT '',
    ADD COLUMN template_id uuid,
    ADD COLUMN accepted_at timestamptz,
    ADD COLUMN resolution_reason text NOT NULL DEFAULT '',
    ADD COLUMN replayed_as uuid;
COMMENT ON COLUMN dead_letters.notification_type IS 'the record''s, here for the lists; so are the next two';
COMMENT ON COLUMN dead_letters.template_id IS 'the version that the route was to be rendered with';
COMMENT ON COLUMN dead_letters.accepted_at IS 'the record''s; NULL where none was there';
COMMENT ON COLUMN dead_letters.resolved_by IS 'an API key: of who replayed or resolved it, or the one whose trigger handled it';
COMMENT ON COLUMN dead_letters.replayed_as IS 'the outbox row (of a webhook: the delivery too) that does the work again, one generation later';
ALTER TABLE dead_letters
    ADD CONSTRAINT dead_letters_reason_bound CHECK (char_length(resolution_reason) <= 500) NOT VALID,
    ADD CONSTRAINT dead_letters_replayed_as CHECK (replayed_as IS NULL OR resolution = 'replayed') NOT VALID;

-- Work that an operator asked for and that takes longer than a request: carried out page by page as outbox work of the same id.
CREATE TABLE jobs (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('replay')),
    status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'complete', 'cancelled', 'failed')),
    arguments jsonb NOT NULL,
    total integer,
    done integer NOT NULL DEFAULT 0,
    skipped integer NOT NULL DEFAULT 0,
    failed integer NOT NULL DEFAULT 0,
    skipped_reasons jsonb NOT NULL DEFAULT '{}',
    created_by uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    started_at timestamptz,
    finished_at timestamptz,
    updated_at timestamptz NOT NULL DEFAULT tocsin_now(),
    CONSTRAINT jobs_finished_at CHECK ((status IN ('complete', 'cancelled', 'failed')) = (finished_at IS NOT NULL))
) WITH (fillfactor = 70);
COMMENT ON COLUMN jobs.total IS 'how many it found when it began; NULL before';
COMMENT ON COLUMN jobs.failed IS 'those that could not even be tried: the log says why';
COMMENT ON COLUMN jobs.created_by IS 'the API key that asked for it';
-- the list; retention
CREATE INDEX jobs_listing_idx ON jobs (tenant_id, created_at DESC, id DESC);
CREATE INDEX jobs_finished_idx ON jobs (finished_at) WHERE finished_at IS NOT NULL;

ALTER TABLE outbox DROP CONSTRAINT outbox_source_kind_check;
ALTER TABLE outbox ADD CONSTRAINT outbox_source_kind_check
    CHECK (source_kind IN ('plan', 'deliver', 'fanout', 'webhook', 'trigger', 'replay')) NOT VALID;

ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE jobs FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON jobs TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON jobs TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON jobs TO tocsin_app;
GRANT SELECT, UPDATE ON jobs TO tocsin_worker;
GRANT SELECT, DELETE, UPDATE (updated_at) ON jobs TO tocsin_retention;

-- One letter is replayed by the door, many by a worker: both start the work anew, and write down that they did.
GRANT UPDATE (resolution, resolved_at, resolved_by, resolution_reason, replayed_as) ON dead_letters TO tocsin_app;
GRANT UPDATE (resolution_reason, replayed_as) ON dead_letters TO tocsin_worker;
GRANT UPDATE (outcome) ON domain_events TO tocsin_app;
GRANT INSERT ON audit_logs TO tocsin_worker;
