"""What can be asked: each call is a request and how its answer is read. Both clients have them as methods."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Unpack
from uuid import uuid4

from tocsin_client.audience import Thread, To
from tocsin_client.intent import Intent, key_for, quoted_key
from tocsin_client.notifications import Explanation, read_explanation
from tocsin_client.people import Erasure, User, UserFields, UserToken, read_erasure, read_token, read_user
from tocsin_client.receipts import (
    BatchResult,
    Cancelled,
    EventReceipt,
    Receipt,
    read_batch,
    read_cancelled,
    read_event,
    receipt_of,
)
from tocsin_client.request import REPEATABLE, Answer, Call, Request
from tocsin_client.wire import encoded, path, query_of, written_moment

LONGEST_WAIT = 20  # seconds; the service waits no longer, whatever it is asked
_JSON = "application/json"
_PATH = re.compile(r"/(?!/)[\x21-\x7e]*")


def send(
    *,
    type: str,
    to: To,
    title: str | None = None,
    message: str | None = None,
    url: str | None = None,
    payload: Mapping[str, Any] | None = None,
    channels: Iterable[str] | None = None,
    template: str | None = None,
    thread: Thread | None = None,
    priority: str | None = None,
    occurred_at: datetime | None = None,
    send_at: datetime | None = None,
    expires_at: datetime | None = None,
    retry: Mapping[str, Any] | None = None,
    mode: str | None = None,
    reply_to: str | None = None,
    cc: Iterable[str] | None = None,
    attachments: Iterable[Mapping[str, Any]] | None = None,
    idempotency_key: str | None = None,
    wait: int | None = None,
) -> Call[Receipt]:
    """Ask for a notification; scope `send`.

    `to` is a user's id, a `User` or a dict with `id` and addresses (written before it is sent; scope `manage` too), a list of
    those, an `Address`, a `Thread`, a `Scope`, or `Everyone()`. `wait` is how many seconds to wait for the outcome of one
    attempt, at most 20. `reply_to`, `cc` and `attachments` (`{"url": …}` each) are for its email.

    Without an `idempotency_key` one is made; every try uses the same, and the receipt has it.
    """
    intent = Intent(
        type=type,
        to=to,
        title=title,
        message=message,
        url=url,
        payload=payload,
        channels=channels,
        template=template,
        thread=thread,
        priority=priority,
        occurred_at=occurred_at,
        send_at=send_at,
        expires_at=expires_at,
        retry=retry,
        mode=mode,
        reply_to=reply_to,
        cc=cc,
        attachments=attachments,
    )
    key = key_for(idempotency_key)
    headers = {"Content-Type": _JSON, "Idempotency-Key": quoted_key(key)}
    where, waits = "/v1/intents", 0.0
    if wait is not None:
        if wait < 1:
            raise ValueError("`wait` is a number of seconds, from 1")
        where, waits, headers["Prefer"] = "/v1/intents/wait", float(min(wait, LONGEST_WAIT)), f"wait={wait}"
    request = Request(
        "POST",
        where,
        headers=headers,
        content=encoded(intent.body()),
        is_repeatable=True,
        waits=waits,
        idempotency_keys=(key,),
    )
    return Call(request, lambda answer: receipt_of(answer, key))


def send_batch(intents: Iterable[Intent | Mapping[str, Any]]) -> Call[list[BatchResult]]:
    """Ask for up to 500 notifications in one transaction; scope `send`. A dict has the arguments of `send`.

    The results are in the same order. One that is refused does not spoil the others, and is not raised: look at `problem`.
    """
    given = [one if isinstance(one, Intent) else Intent(**one) for one in intents]
    keys = tuple(key_for(one.idempotency_key) for one in given)
    items = [{"idempotency_key": key} | one.body() for key, one in zip(keys, given, strict=True)]
    return Call(_post("/v1/intents/batch", {"intents": items}, is_repeatable=True, idempotency_keys=keys), read_batch)


def event(
    *,
    type: str,
    source: str,
    data: Mapping[str, Any] | None = None,
    id: str | None = None,
    time: datetime | None = None,
) -> Call[EventReceipt]:
    """Tell what happened (a CloudEvent); who cares is found out. Scope `send`.

    `source` and `id` together name the event, so that it counts once. Without an `id` one is made; every try uses the same.
    """
    event_id = id if id is not None else str(uuid4())
    attributes = {"specversion": "1.0", "id": event_id, "source": source, "type": type, "data": dict(data or {})}
    content = encoded(attributes | ({"time": written_moment(time)} if time else {}))
    headers = {"Content-Type": "application/cloudevents+json"}
    request = Request("POST", "/v1/events", headers=headers, content=content, is_repeatable=True, event_id=event_id)
    return Call(request, read_event)


def cancel(notification_id: str) -> Call[Cancelled]:
    """Stop what has not been sent; scope `send`. `Conflict` if it is too late for all of it.

    It is repeated where the answer was lost, and then counts what the last try found.
    """
    return Call(_post(path("/v1/notifications/{}/cancel", notification_id), None, is_repeatable=True), read_cancelled)


def explain(notification_id: str) -> Call[Explanation]:
    """What became of a notification, and why; scope `read`."""
    return Call(_plain("GET", path("/v1/notifications/{}", notification_id)), read_explanation)


def put_user(user_id: str, **fields: Unpack[UserFields]) -> Call[User]:
    """Write a whole user: what is not named is cleared. Scope `manage`."""
    return Call(_with_body("PUT", path("/v1/users/{}", user_id), fields), read_user)


def patch_user(user_id: str, **changes: Unpack[UserFields]) -> Call[User]:
    """Change what is named; None clears, and attributes are merged. Scope `manage`."""
    return Call(_with_body("PATCH", path("/v1/users/{}", user_id), changes, "application/merge-patch+json"), read_user)


def get_user(user_id: str) -> Call[User]:
    """Show a user; scope `manage`."""
    return Call(_plain("GET", path("/v1/users/{}", user_id)), read_user)


def erase_user(user_id: str, *, dry_run: bool = False) -> Call[Erasure]:
    """Everything of theirs, everywhere; the receipt says what. Scope `manage`. With `dry_run` it is only counted.

    It is repeated where the answer was lost: then `NotFound` with `tries` above 1 can mean that it is done.
    """
    where = path("/v1/users/{}/erase", user_id)
    return Call(_post(where, {"dry_run": True} if dry_run else None, is_repeatable=True), read_erasure)


def create_token(user_id: str, ttl: int | timedelta = 3600) -> Call[UserToken]:
    """A token for a user's browser, for `ttl` seconds (60 to 86,400); scope `manage`."""
    seconds = int(ttl.total_seconds()) if isinstance(ttl, timedelta) else ttl
    return Call(_post(path("/v1/users/{}/tokens", user_id), {"ttl_seconds": seconds}, is_repeatable=True), read_token)


def request(
    method: str,
    path: str,
    *,
    json: Any = None,
    params: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    repeatable: bool | None = None,
    timeout: float | None = None,
) -> Call[Answer]:
    """Any other call, with the key, the retries and the exceptions of all.

    A POST is repeated only where it was surely not taken, unless `repeatable` says that twice does no harm.
    """
    if not _PATH.fullmatch(path):
        raise ValueError("A path begins with one slash, and what is not ASCII in it is percent-encoded")
    verb = method.upper()
    sent = dict(headers or {})
    if json is not None and "content-type" not in {name.lower() for name in sent}:
        sent["Content-Type"] = _JSON
    asked = Request(
        verb,
        path,
        query=query_of(params or {}),
        headers=sent,
        content=None if json is None else encoded(json),
        is_repeatable=verb in REPEATABLE if repeatable is None else repeatable,
        seconds=timeout,
    )
    return Call(asked, lambda answer: answer)


def _plain(method: str, where: str) -> Request:
    return Request(method, where, is_repeatable=method in REPEATABLE)


def _with_body(method: str, where: str, body: Any, media_type: str = _JSON) -> Request:
    headers = {"Content-Type": media_type}
    return Request(method, where, headers=headers, content=encoded(body), is_repeatable=method in REPEATABLE)


def _post(where: str, body: Any, *, is_repeatable: bool, idempotency_keys: tuple[str, ...] = ()) -> Request:
    headers = {} if body is None else {"Content-Type": _JSON}
    content = None if body is None else encoded(body)
    return Request(
        "POST", where, headers=headers, content=content, is_repeatable=is_repeatable, idempotency_keys=idempotency_keys
    )
