"""The door for what producers keep here; until its first endpoint it knows no resource, and says so."""

from tocsin.api import about
from tocsin.http.door import door

handler = door([], otherwise=about.otherwise)
