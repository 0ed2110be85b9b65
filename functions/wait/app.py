"""The door for producers that wait for the outcome: apart from intake, so that waiting never keeps anybody from sending."""

from tocsin.api import about, wait
from tocsin.http.door import door

handler = door(wait.ENDPOINTS, otherwise=about.otherwise)
