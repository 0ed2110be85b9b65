"""The door for what producers keep here, and what follows from it."""

from tocsin.api import about, kv, triggers, webhook_deliveries, webhooks
from tocsin.http.door import door

handler = door(
    [*kv.ENDPOINTS, *triggers.ENDPOINTS, *webhooks.ENDPOINTS, *webhook_deliveries.ENDPOINTS], otherwise=about.otherwise
)
