DROP FUNCTION tocsin_newcomers(uuid, text, text, jsonb, uuid);
DROP FUNCTION tocsin_event_named(jsonb);
DROP FUNCTION tocsin_event_rule(uuid, text);
DROP FUNCTION tocsin_inbox_fold(text, text, text);
DROP FUNCTION tocsin_inbox_summary(jsonb);
DROP FUNCTION tocsin_inbox_wanted(uuid, uuid, text);
DROP FUNCTION tocsin_obstacle(text, text, uuid, text, text, uuid, uuid);
DROP FUNCTION tocsin_wording(uuid, text, text, text);
