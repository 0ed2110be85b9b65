DROP FUNCTION tocsin_layout(uuid, text, text, timestamptz);
ALTER TABLE records DROP COLUMN email_options;
ALTER TABLE routes DROP COLUMN worded_at;
ALTER TABLE templates DROP COLUMN layout, DROP COLUMN partials;
DROP TABLE layouts;
