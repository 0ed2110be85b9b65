-- depends: 0004.work
-- The inbox. One row per person and thread: later events on the thread fold into it. user_id NULL: everyone of the tenant.
CREATE TABLE notifications (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    user_id uuid,
    kind text NOT NULL CHECK (char_length(kind) BETWEEN 1 AND 100),
    reason text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 32),
    scope text,
    thread_kind text,
    thread_id text,
    source_event_id bigint,
    source_notification_id uuid,
    title text NOT NULL,
    message text NOT NULL,
    summary jsonb NOT NULL DEFAULT '{}',
    event_count integer NOT NULL DEFAULT 1,
    unread boolean NOT NULL DEFAULT true,
    read_at timestamptz,
    last_event_at timestamptz NOT NULL,
    last_actor_user_id uuid,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    expires_at timestamptz,
    deleted_at timestamptz,
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, last_actor_user_id) REFERENCES users (tenant_id, id) ON DELETE SET NULL (last_actor_user_id),
    CONSTRAINT notifications_thread_whole CHECK ((thread_kind IS NULL) = (thread_id IS NULL)),
    CONSTRAINT notifications_read_at CHECK (unread OR read_at IS NOT NULL)
);
-- the inbox view: one user's rows, recent first
CREATE INDEX notifications_recent_idx ON notifications (tenant_id, user_id, last_event_at DESC, id DESC);
-- the badge: unread rows only, however many are read
CREATE INDEX notifications_unread_idx ON notifications (tenant_id, user_id) WHERE unread AND deleted_at IS NULL;
-- coalescing: one row per person and thread; NULLS NOT DISTINCT also folds the tenant-wide rows
CREATE UNIQUE INDEX notifications_thread_idx ON notifications (tenant_id, user_id, thread_kind, thread_id)
    NULLS NOT DISTINCT WHERE thread_id IS NOT NULL;
-- retention
CREATE INDEX notifications_expiry_idx ON notifications (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX notifications_last_event_idx ON notifications (last_event_at);
CREATE INDEX notifications_deleted_idx ON notifications (deleted_at) WHERE deleted_at IS NOT NULL;

-- What an operator should see. Not a log: one row per condition, resolved when it passes.
CREATE TABLE admin_system_events (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    event_type text NOT NULL,
    severity text NOT NULL CHECK (severity IN ('low', 'medium', 'high', 'critical')),
    description text NOT NULL,
    details jsonb,
    subject text NOT NULL DEFAULT '',
    tenant_id uuid,
    user_id uuid,
    is_resolved boolean NOT NULL DEFAULT false,
    resolved_at timestamptz,
    resolved_by uuid,
    CONSTRAINT admin_system_events_resolved_at CHECK (is_resolved = (resolved_at IS NOT NULL))
);
CREATE INDEX admin_system_events_created_idx ON admin_system_events (created_at DESC);
CREATE INDEX admin_system_events_tenant_idx ON admin_system_events (tenant_id, created_at DESC);
CREATE INDEX admin_system_events_severity_idx ON admin_system_events (severity, created_at DESC);
-- one open event per condition, not one per message
CREATE UNIQUE INDEX admin_system_events_open_idx ON admin_system_events (event_type, subject, tenant_id)
    NULLS NOT DISTINCT WHERE NOT is_resolved;
