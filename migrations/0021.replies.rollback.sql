DROP TRIGGER reply_to_deferral ON outbox;
DROP TRIGGER reply_to_end ON outbox;
DROP FUNCTION tocsin_reply();
DROP INDEX outbox_reply_idx;
DROP TABLE abandoned_executions;
DROP TABLE reply_inboxes;
