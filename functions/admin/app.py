"""The door for administrators: API keys, the providers that a tenant brings, the tenants themselves, and who changed what."""

from tocsin.api import about, api_keys, audit_log, providers, tenants
from tocsin.http.door import door

handler = door(
    [*api_keys.ENDPOINTS, *providers.ENDPOINTS, *tenants.ENDPOINTS, *audit_log.ENDPOINTS],
    otherwise=about.otherwise,
)
