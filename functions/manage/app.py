"""The door for managing users, devices, keys, templates, types, suppressions, providers, and who hears of what."""

from tocsin.api import (
    about,
    api_keys,
    devices,
    event_routing,
    notification_types,
    providers,
    suppressions,
    templates,
    user_tokens,
    users,
    watches,
)
from tocsin.http.door import door

handler = door(
    [
        *users.ENDPOINTS,
        *devices.ENDPOINTS,
        *api_keys.ENDPOINTS,
        *event_routing.ENDPOINTS,
        *watches.ENDPOINTS,
        *user_tokens.ENDPOINTS,
        *templates.ENDPOINTS,
        *notification_types.ENDPOINTS,
        *suppressions.ENDPOINTS,
        *providers.ENDPOINTS,
    ],
    otherwise=about.otherwise,
)
