DROP TABLE rate_limits;
DROP TABLE api_keys;
DROP TABLE devices;
DROP TABLE users;
DROP TABLE tenants;
