-- depends: 0010.events
-- What a person wants on a channel, or, with a type, of one kind of notification on it. No row means: on, without limits.
CREATE TABLE preferences (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    channel text NOT NULL CHECK (channel IN ('email', 'sms', 'push', 'in_app')),
    notification_type text NOT NULL DEFAULT '',
    enabled boolean DEFAULT true,
    frequency_cap integer CHECK (frequency_cap >= 0),
    quiet_hours_start time,
    quiet_hours_end time,
    timezone text NOT NULL DEFAULT 'UTC',
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    updated_at timestamptz NOT NULL DEFAULT tocsin_now(),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT preferences_quiet_hours CHECK (
        (quiet_hours_start IS NULL) = (quiet_hours_end IS NULL)
        AND (quiet_hours_start IS NULL OR quiet_hours_start <> quiet_hours_end)),
    -- a finer rule may leave it to the channel's
    CONSTRAINT preferences_enabled CHECK (enabled IS NOT NULL OR notification_type <> ''),
    CONSTRAINT preferences_inbox CHECK (channel <> 'in_app' OR frequency_cap IS NULL AND quiet_hours_start IS NULL)
);
-- the gate: the rule for this person, channel and type
CREATE UNIQUE INDEX preferences_rule_idx ON preferences (tenant_id, user_id, channel, notification_type);

-- What was sent to whom, written before it is sent: the evidence of the storm dampener and the caps. Every email to a user; of other
-- channels what a cap counts. message_id comes with the provider's answer; what was given up is deleted again.
CREATE TABLE notification_email_log (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    tenant_id uuid NOT NULL,
    recipient_user_id uuid NOT NULL,
    notification_id uuid NOT NULL,
    route_id text NOT NULL,
    generation smallint NOT NULL,
    channel text NOT NULL,
    notification_type text NOT NULL,
    thread_kind text,
    thread_id text,
    sent_at timestamptz NOT NULL,
    message_id text,
    FOREIGN KEY (tenant_id, recipient_user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);
-- one reservation per route: a retry finds its own
CREATE UNIQUE INDEX notification_email_log_route_idx ON notification_email_log (notification_id, route_id, generation);
-- the storm dampener: the last email to this person about this thread
CREATE INDEX notification_email_log_recent_idx
    ON notification_email_log (tenant_id, recipient_user_id, thread_kind, thread_id, sent_at DESC) WHERE thread_id IS NOT NULL;
-- the caps: what this person got on a channel in the last hour, or today
CREATE INDEX notification_email_log_recipient_idx ON notification_email_log (tenant_id, recipient_user_id, channel, sent_at DESC);
-- retention
CREATE INDEX notification_email_log_sent_idx ON notification_email_log (sent_at);

-- The digest that is being collected for a person and thread, if any: a record of its own, whose email goes out after the window.
CREATE TABLE digests (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    thread_kind text NOT NULL,
    thread_id text NOT NULL,
    notification_id uuid NOT NULL REFERENCES records (notification_id) ON DELETE CASCADE,
    outbox_id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT tocsin_now(),
    PRIMARY KEY (tenant_id, user_id, thread_kind, thread_id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX digests_notification_idx ON digests (notification_id);

-- The inbox gets a place to stand: shown_at is the last event's time, or the time until which its reader put it off; before it the row
-- is not shown. done_at: dealt with, out of the list until something new happens. saved_at: kept. box: where the row lies.
ALTER TABLE notifications ADD COLUMN shown_at timestamptz;
ALTER TABLE notifications ADD COLUMN done_at timestamptz;
ALTER TABLE notifications ADD COLUMN saved_at timestamptz;
UPDATE notifications SET shown_at = last_event_at;
ALTER TABLE notifications ALTER COLUMN shown_at SET NOT NULL;
ALTER TABLE notifications ADD COLUMN box text GENERATED ALWAYS AS (
    CASE WHEN deleted_at IS NOT NULL THEN 'hidden' WHEN done_at IS NOT NULL THEN 'done' WHEN unread THEN 'unread' ELSE 'read' END
) STORED;
DROP INDEX notifications_recent_idx;
DROP INDEX notifications_unread_idx;
-- every view, recent first, and the badge: one box of one person, without touching the rows of the others
CREATE INDEX notifications_box_idx ON notifications (tenant_id, user_id, box, shown_at DESC, id DESC) INCLUDE (expires_at);
-- the rows for everyone, recent first: a page reads as many as it shows, however many there are
CREATE INDEX notifications_announced_idx ON notifications (tenant_id, box, shown_at DESC, id DESC) INCLUDE (expires_at)
    WHERE user_id IS NULL;
-- the view of what is saved
CREATE INDEX notifications_saved_idx ON notifications (tenant_id, user_id, shown_at DESC, id DESC)
    WHERE saved_at IS NOT NULL AND deleted_at IS NULL;

-- One person's state of a row that is everyone's. It holds as long as it is not older than the row's last event.
CREATE TABLE notification_reads (
    notification_id uuid NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
    user_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    read_at timestamptz,
    hidden_at timestamptz,
    done_at timestamptz,
    saved_at timestamptz,
    snoozed_until timestamptz,
    snoozed_at timestamptz,
    updated_at timestamptz NOT NULL DEFAULT tocsin_now(),
    PRIMARY KEY (notification_id, user_id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id) ON DELETE CASCADE
);
-- the rows for everyone that this person put off (they stand elsewhere in the list), and erasing a person
CREATE INDEX notification_reads_user_idx ON notification_reads (tenant_id, user_id);

ALTER TABLE preferences ENABLE ROW LEVEL SECURITY;
ALTER TABLE preferences FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON preferences TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON preferences TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
ALTER TABLE notification_email_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE notification_email_log FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON notification_email_log TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON notification_email_log TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
ALTER TABLE digests ENABLE ROW LEVEL SECURITY;
ALTER TABLE digests FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON digests TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON digests TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);
ALTER TABLE notification_reads ENABLE ROW LEVEL SECURITY;
ALTER TABLE notification_reads FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON notification_reads TO tocsin_app
    USING (tenant_id = (SELECT tocsin_tenant())) WITH CHECK (tenant_id = (SELECT tocsin_tenant()));
CREATE POLICY every_tenant ON notification_reads TO tocsin_worker, tocsin_retention USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON preferences, notification_reads TO tocsin_app;
GRANT SELECT ON notification_email_log, digests TO tocsin_app;
GRANT DELETE ON notification_email_log TO tocsin_app;
GRANT SELECT ON preferences TO tocsin_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON notification_email_log, digests TO tocsin_worker;
GRANT SELECT, DELETE, UPDATE (message_id) ON notification_email_log TO tocsin_retention;
GRANT SELECT, DELETE, UPDATE (created_at) ON digests TO tocsin_retention;
