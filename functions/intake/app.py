"""The door for producers: intents and events in, one answer each; and the answer to everything no other door serves."""

from tocsin.api import sending, service, telling
from tocsin.http import door

handler = door([*sending.ENDPOINTS, *telling.ENDPOINTS, *service.ENDPOINTS], otherwise=service.otherwise)
