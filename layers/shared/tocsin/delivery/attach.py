"""Attach: fetch the files of emails before their attempts are opened, with no transaction open and nothing in doubt."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from threading import Lock
from typing import Any
from uuid import UUID

from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.content.attachments import MAX_BYTES, AttachedFile, is_refused_type, type_in
from tocsin.delivery import settlement
from tocsin.delivery.prepare import Ready
from tocsin.foundation import http_client
from tocsin.foundation.http_client import WebFailure
from tocsin.store.rows import Settlement

PATIENCE = 6.0  # seconds for all files of a batch
LEAST = 3.0  # seconds that must be left, else it is left to a later round
MAX_HELD = 32 * 1024 * 1024  # bytes of all files of a batch; those under way may come on top
MAX_URL = 2_000
AT_ONCE = 6
WAIT = timedelta(seconds=2)
_AGAIN = frozenset((408, 425, 429))
_NEVER = frozenset(("denied_url", "denied_address"))


@dataclass(frozen=True, slots=True)
class Unfetched:
    """Why a file is not there. `is_gone`: it never will be."""

    why: str
    is_gone: bool


class NotThisRound(Exception):
    """There was no room or no time in this round. The message waits, at no cost."""


def attach(ready: list[Ready], *, send_until: float, allow_private: bool) -> tuple[list[Ready], list[Settlement]]:
    """Those that can go on, with their files, and what is settled without an attempt. One whose files could not be had for now
    goes on as a failed attempt, which is tried again like any other."""
    wanted = {one.delivery.work.id: files_of(one) for one in ready}
    fetched = _fetch_all(_urls_in_turns(ready), send_until, allow_private)
    going: list[Ready] = []
    settled: list[Settlement] = []
    for one in ready:
        try:
            attached = _attached(wanted[one.delivery.work.id], fetched)
        except NotThisRound:
            settled.append(settlement.defer(one.delivery, "attachments_wait", WAIT))
        else:
            if isinstance(attached, str):
                settled.append(settlement.bury(one.delivery, "attachment", attached))
            else:
                going.append(replace(one, **_with(attached)))
    return going, settled


def _with(attached: tuple[AttachedFile, ...] | Failure) -> dict[str, Any]:
    return {"failure": attached} if isinstance(attached, Failure) else {"attachments": attached}


def files_of(one: Ready) -> list[dict[str, str]]:
    """Those that an email is to have, by their addresses."""
    if one.delivery.route.channel != "email":
        return []
    found: list[dict[str, str]] = (one.delivery.record.email_options or {}).get("attachments") or []
    return found


def _urls_in_turns(ready: list[Ready]) -> list[str]:
    """Each once, and a file of every tenant before the next of any: who has many or slow ones takes the room of no other."""
    turns: Counter[UUID] = Counter()
    asked: list[tuple[int, str]] = []
    for one in ready:
        for file in files_of(one):
            turns[one.delivery.work.tenant_id] += 1
            asked.append((turns[one.delivery.work.tenant_id], file["url"]))
    return list(dict.fromkeys(url for _, url in sorted(asked, key=lambda each: each[0])))


def _attached(
    files: list[dict[str, str]], fetched: dict[str, AttachedFile | Unfetched | None]
) -> tuple[AttachedFile, ...] | Failure | str:
    """The files of one email; why it fails for now; or why it never can be sent. Raises NotThisRound."""
    found: list[AttachedFile] = []
    for file in files:
        name, got = file["filename"], fetched[file["url"]]
        if got is None:
            raise NotThisRound
        if isinstance(got, Unfetched) and got.is_gone:
            return f"the file {name} cannot be attached: {got.why}"
        if isinstance(got, Unfetched):
            said = f"the file {name} could not be fetched: {got.why}; nothing was handed to the provider"
            return Failure(FailureClass.TRANSIENT, "attachment", said)
        content_type = file.get("content_type") or got.content_type
        if is_refused_type(content_type):
            return f"the file {name} cannot be attached: no provider sends {content_type}"
        found.append(replace(got, name=name, content_type=content_type))
    if sum(len(one.data) for one in found) > MAX_BYTES:
        return f"the files have more than {MAX_BYTES} bytes together: {', '.join(one.name for one in found)}"
    return tuple(found)


def _fetch_all(urls: list[str], send_until: float, allow_private: bool) -> dict[str, AttachedFile | Unfetched | None]:
    """None: there was no room or no time for it."""
    until = min(time.monotonic() + PATIENCE, send_until)
    held, lock = 0, Lock()

    def fetch(url: str) -> AttachedFile | Unfetched | None:
        nonlocal held
        left = until - time.monotonic()
        if left < LEAST or held >= MAX_HELD:
            return None
        got = _fetch(url, left, allow_private)
        if isinstance(got, AttachedFile):
            with lock:
                held += len(got.data)
        return got

    if len(urls) == 1:
        return {urls[0]: fetch(urls[0])}
    with ThreadPoolExecutor(min(AT_ONCE, len(urls))) as pool:
        return dict(zip(urls, pool.map(fetch, urls), strict=True))


def _fetch(url: str, seconds: float, allow_private: bool) -> AttachedFile | Unfetched | None:
    try:
        reply = http_client.get(url, timeout=seconds, allow_private=allow_private, most=MAX_BYTES, longest_url=MAX_URL)
    except WebFailure as failure:
        if failure.code == "resolver_busy":  # our own trouble
            return None
        if failure.code == "too_large":
            return Unfetched(f"it has more than {MAX_BYTES} bytes", is_gone=True)
        return Unfetched(f"{failure.code}: {failure.message}", failure.code in _NEVER)
    if reply.status == 200:
        return AttachedFile("", type_in(reply.headers.get("content-type", "")), reply.body)
    if 300 <= reply.status < 400:
        return Unfetched(f"HTTP {reply.status}: it is elsewhere, and redirects are not followed", is_gone=True)
    return Unfetched(f"HTTP {reply.status}", reply.status < 500 and reply.status not in _AGAIN)
