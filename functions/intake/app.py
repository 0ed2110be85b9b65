"""The door for producers: intents and events in, one answer each; and the answer to everything no other door serves."""

from tocsin.api import about, events, intents
from tocsin.http.door import door

handler = door([*intents.ENDPOINTS, *events.ENDPOINTS, *about.ENDPOINTS], otherwise=about.otherwise)
