"""The door for producers: intents in, one answer each; and the answer to everything no other door serves."""

from tocsin.api import sending, service
from tocsin.http import door

handler = door([*sending.ENDPOINTS, *service.ENDPOINTS], otherwise=service.otherwise)
