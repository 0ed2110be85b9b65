"""The door for producers that wait for the outcome: apart from intake, so that waiting never keeps anybody from sending."""

from tocsin.api import about
from tocsin.http.door import door

handler = door([], otherwise=about.otherwise)
