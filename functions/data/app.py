"""The door for what a tenant sets up to happen by itself: its webhooks."""

from tocsin.api import about, webhooks
from tocsin.http.door import door

handler = door(webhooks.ENDPOINTS, otherwise=about.otherwise)
