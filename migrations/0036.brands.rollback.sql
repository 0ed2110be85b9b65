ALTER TABLE attempts DROP COLUMN note;
DROP TABLE brands;
