DROP FUNCTION tocsin_locale_distance(text, text);
ALTER TABLE routes DROP COLUMN template_id;
DROP TABLE notification_types;
DROP TABLE templates;
