"""The door for readers: what became of notifications and events, people's inboxes, the bell, and the way out of a mailing."""

from pathlib import Path

from tocsin.api import asking, assets, inbox, preferring, service, suppressing
from tocsin.http import door

WEB = Path(__file__).with_name("web")

handler = door(
    [*asking.ENDPOINTS, *inbox.ENDPOINTS, *preferring.ENDPOINTS, *assets.serve(WEB), *suppressing.PUBLIC_ENDPOINTS],
    otherwise=service.otherwise,
)
