-- depends: 0013.lanes
-- A key that was rotated knows its successor, so that it is rotated once, and says where its callers should have gone.
ALTER TABLE api_keys ADD COLUMN replaced_by uuid REFERENCES api_keys (id);
