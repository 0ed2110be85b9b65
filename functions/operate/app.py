"""The door for those who watch over the service: what is wrong, what died, what came too late, and what to do about it."""

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
    metrics,
    retention,
    status,
    stuck_notifications,
    system_events,
)
from tocsin.http.door import door

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
    ],
    otherwise=about.otherwise,
)
