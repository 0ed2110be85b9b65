"""The door for readers: what became of notifications, and what is in an inbox."""

from tocsin.api import asking
from tocsin.http import door

handler = door(asking.ENDPOINTS)
