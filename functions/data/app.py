"""The door for what a tenant sets up to happen by itself: its webhooks."""

from tocsin.api import about, webhook_deliveries, webhooks
from tocsin.http.door import door

handler = door([*webhooks.ENDPOINTS, *webhook_deliveries.ENDPOINTS], otherwise=about.otherwise)
