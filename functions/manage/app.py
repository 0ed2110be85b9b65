"""The door for managing users, devices, templates, layouts, types, suppressions, the brand, and who hears of what."""

from tocsin.api import (
    about,
    brand,
    devices,
    erasures,
    event_routing,
    layouts,
    notification_types,
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
        *event_routing.ENDPOINTS,
        *watches.ENDPOINTS,
        *user_tokens.ENDPOINTS,
        *templates.ENDPOINTS,
        *layouts.ENDPOINTS,
        *notification_types.ENDPOINTS,
        *suppressions.ENDPOINTS,
        *erasures.ENDPOINTS,
        *brand.ENDPOINTS,
    ],
    otherwise=about.otherwise,
)
