"""The door for those who run the service: API keys, the providers that a tenant brings, and outcomes that came too late."""

from tocsin.api import abandoned_executions, about, api_keys, providers
from tocsin.http.door import door

handler = door([*api_keys.ENDPOINTS, *providers.ENDPOINTS, *abandoned_executions.ENDPOINTS], otherwise=about.otherwise)
