DROP TABLE malformed_intents;
DROP TABLE dead_letters;
DROP TABLE attempts;
DROP TABLE routes;
DROP TABLE records;
