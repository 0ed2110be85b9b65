"""The door for those who run the service: API keys, and the providers that a tenant brings."""

from tocsin.api import about, api_keys, providers
from tocsin.http.door import door

handler = door([*api_keys.ENDPOINTS, *providers.ENDPOINTS], otherwise=about.otherwise)
