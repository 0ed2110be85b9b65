"""The door for readers: what became of notifications and events, people's inboxes, the bell, and the way out of a mailing."""

from pathlib import Path

from tocsin.api import (
    about,
    decisions,
    inbox,
    messages,
    notifications,
    preferences,
    preferences_link,
    search,
    threads,
    unsubscribe,
)
from tocsin.http import assets
from tocsin.http.door import door

WEB = Path(__file__).with_name("web")

handler = door(
    [
        *notifications.ENDPOINTS,
        *messages.ENDPOINTS,
        *search.ENDPOINTS,
        *decisions.ENDPOINTS,
        *inbox.ENDPOINTS,
        *threads.ENDPOINTS,
        *preferences.ENDPOINTS,
        *assets.serve(WEB),
        *unsubscribe.ENDPOINTS,
        *preferences_link.ENDPOINTS,
    ],
    otherwise=about.otherwise,
)
