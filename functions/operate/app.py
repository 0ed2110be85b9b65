"""The door for those who watch over the service: what is wrong, what died, what to do about it; and the console."""

from pathlib import Path

from tocsin.api import (
    abandoned_executions,
    about,
    books,
    dead_letters,
    diagnostics,
    email_log,
    jobs,
    lanes,
    malformed_intents,
    me,
    metrics,
    retention,
    status,
    stuck_notifications,
    system_events,
)
from tocsin.http import assets
from tocsin.http.door import door

WEB = Path(__file__).with_name("web")

handler = door(
    [
        *status.ENDPOINTS,
        *diagnostics.ENDPOINTS,
        *lanes.ENDPOINTS,
        *system_events.ENDPOINTS,
        *malformed_intents.ENDPOINTS,
        *abandoned_executions.ENDPOINTS,
        *dead_letters.ENDPOINTS,
        *jobs.ENDPOINTS,
        *email_log.ENDPOINTS,
        *metrics.ENDPOINTS,
        *stuck_notifications.ENDPOINTS,
        *books.ENDPOINTS,
        *retention.ENDPOINTS,
        *assets.serve_console(WEB),
        *me.ENDPOINTS,
    ],
    otherwise=about.otherwise,
)
