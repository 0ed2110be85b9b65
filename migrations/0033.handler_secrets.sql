-- depends: 0032.given_users
-- A new secret for the webhook of a trigger: the one before signs too for a day, as webhooks have it.
ALTER TABLE trigger_handlers
    ADD COLUMN previous_secret bytea,
    ADD COLUMN previous_secret_expires_at timestamptz,
    ADD CONSTRAINT trigger_handlers_previous_secret CHECK ((previous_secret IS NULL) = (previous_secret_expires_at IS NULL)) NOT VALID;
