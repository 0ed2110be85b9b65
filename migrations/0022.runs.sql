-- depends: 0021.replies
-- What runs on schedule says that it ran, and what came of it: the sweep, retention, whatever else is to come. It belongs to the
-- installation; a report names no tenant.
CREATE TABLE job_runs (
    id uuid PRIMARY KEY,
    job text NOT NULL CHECK (char_length(job) BETWEEN 1 AND 50),
    outcome text NOT NULL DEFAULT 'running' CHECK (outcome IN ('running', 'complete', 'partial', 'failed')),
    report jsonb NOT NULL DEFAULT '{}',
    error text NOT NULL DEFAULT '',
    started_at timestamptz NOT NULL DEFAULT tocsin_now(),
    finished_at timestamptz,
    CONSTRAINT job_runs_finished_at CHECK ((outcome = 'running') = (finished_at IS NULL))
) WITH (fillfactor = 70);
COMMENT ON COLUMN job_runs.outcome IS 'partial: its time was up, and the next run goes on; running, long after its start: it was killed';
COMMENT ON COLUMN job_runs.error IS 'the kind of failure, never its words: they may quote what nobody should read';
-- the last runs of a job; retention
CREATE INDEX job_runs_latest_idx ON job_runs (job, started_at DESC);
CREATE INDEX job_runs_started_idx ON job_runs (started_at);

ALTER TABLE job_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_runs FORCE ROW LEVEL SECURITY;
CREATE POLICY of_the_installation ON job_runs FOR SELECT TO tocsin_app USING (true);
CREATE POLICY every_tenant ON job_runs TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
GRANT SELECT ON job_runs TO tocsin_app;
GRANT SELECT, INSERT, UPDATE ON job_runs TO tocsin_worker, tocsin_retention;
GRANT DELETE ON job_runs TO tocsin_retention;

-- A job that fails says so, and says when it has recovered.
GRANT INSERT, UPDATE (is_resolved, resolved_at) ON admin_system_events TO tocsin_retention;
