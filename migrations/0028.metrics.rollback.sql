DROP TABLE metrics;
