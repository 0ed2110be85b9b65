ALTER TABLE api_keys DROP COLUMN replaced_by;
