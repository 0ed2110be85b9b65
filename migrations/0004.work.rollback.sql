DROP TABLE lanes;
DROP TABLE outbox;
