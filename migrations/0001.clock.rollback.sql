DROP FUNCTION tocsin_uuid7();
DROP FUNCTION tocsin_tenant();
DROP FUNCTION tocsin_now();
