"""The door for managing users, devices, keys, templates, types, suppressions, providers, and who hears of what."""

from tocsin.api import about, people, providers, suppressions, templates, watching
from tocsin.http.door import door

handler = door(
    [*people.ENDPOINTS, *watching.ENDPOINTS, *templates.ENDPOINTS, *suppressions.ENDPOINTS, *providers.ENDPOINTS],
    otherwise=about.otherwise,
)
