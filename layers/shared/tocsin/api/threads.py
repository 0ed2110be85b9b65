"""Threads: whether a person hears more of one."""

from datetime import datetime

from pydantic import StrictBool
from typing_extensions import TypedDict

from tocsin.api.inbox import personal
from tocsin.api.words import ThreadRef
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed
from tocsin.http import problems
from tocsin.http.door import Response, Visit
from tocsin.people import threads
from tocsin.store import notification_threads
from tocsin.store.notification_threads import Subscription


class ThreadChoice(Closed):
    subscribed: StrictBool


class ThreadSubscription(TypedDict):
    """Whether a person hears more of a thread, and why; null where nothing was said of it yet."""

    thread: ThreadRef
    subscribed: bool | None
    reason: str | None
    updated_at: datetime | None


def get_thread(visit: Visit) -> Response:
    kind, thread_id = _thread(visit)
    with tenant_transaction(visit.conn, visit.tenant_id):
        found = notification_threads.find(visit.conn, visit.tenant_id, visit.user_id, kind, thread_id)
    return Response(200, _shown_thread(kind, thread_id, found))


def put_thread(visit: Visit) -> Response:
    body: ThreadChoice = visit.request.parsed(ThreadChoice)
    kind, thread_id = _thread(visit)
    chosen = threads.choose(visit.conn, visit.actor, visit.user_id, kind, thread_id, subscribed=body.subscribed)
    return Response(200, _shown_thread(kind, thread_id, chosen))


def delete_thread(visit: Visit) -> Response:
    kind, thread_id = _thread(visit)
    threads.forget_choice(visit.conn, visit.actor, visit.user_id, kind, thread_id)
    return Response(204)


def _thread(visit: Visit) -> tuple[str, str]:
    kind, thread_id = (visit.request.path_parameters.get(name, "") for name in ("kind", "id"))
    if not 1 <= len(kind) <= 64:
        raise problems.invalid_path("kind", "must have 1 to 64 characters")
    if not 1 <= len(thread_id) <= 255:
        raise problems.invalid_path("id", "must have 1 to 255 characters")
    return kind, thread_id


def _shown_thread(kind: str, thread_id: str, found: Subscription | None) -> ThreadSubscription:
    return {
        "thread": {"kind": kind, "id": thread_id},
        "subscribed": found.subscribed if found else None,
        "reason": found.reason if found else None,
        "updated_at": found.updated_at if found else None,
    }


ENDPOINTS = [
    personal(
        "GET /v1/inbox/threads/{kind}/{id}",
        get_thread,
        "Is this person subscribed to the thread?",
        answer=ThreadSubscription,
    ),
    personal(
        "PUT /v1/inbox/threads/{kind}/{id}",
        put_thread,
        "Subscribe to a thread, or mute it",
        body=ThreadChoice,
        answer=ThreadSubscription,
    ),
    personal("DELETE /v1/inbox/threads/{kind}/{id}", delete_thread, "Back to what the watch says", success=204),
]
