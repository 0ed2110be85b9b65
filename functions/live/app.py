"""The door for browsers that wait for news: apart from the others, so that waiting never keeps anybody from reading."""

from tocsin.api import inbox
from tocsin.http.door import door

handler = door(inbox.LIVE_ENDPOINTS)
