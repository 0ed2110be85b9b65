"""Open: commit the attempts before anything is sent, with what they take of their recipients' and providers' allowances."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.content import plain, render
from tocsin.delivery import dampener, settlement
from tocsin.delivery.dampen import Dampened, dampen
from tocsin.delivery.dampener import Limits
from tocsin.delivery.prepare import Ready
from tocsin.foundation.database import worker_transaction
from tocsin.store import provider_configs
from tocsin.store.flow.open import open_attempts
from tocsin.store.rows import Opened, Opening, Settlement

log = Logger(child=True)


class OpenedBatch(NamedTuple):
    """What may be sent now, each with its attempt; what was decided about the recipients; what waits for a provider's rate."""

    attempts: list[tuple[Ready, Opened]]
    dampened: Dampened
    waiting: list[Settlement]


def open_all(conn: Connection[Any], ready: list[Ready], *, lease_token: UUID, limits: Limits) -> OpenedBatch:
    """A crash from here on leaves evidence.

    What counts against a cap or a window of its recipient is reserved in the same transaction; what is refused ends in it."""
    dampened = Dampened()
    if not ready:
        return OpenedBatch([], dampened, [])
    counted = {one.delivery.work.id: one for one in ready if dampener.concerns(one.delivery, limits)}
    if counted:
        with worker_transaction(conn):
            wanted = [(one.delivery, one.content.title[: plain.MAX_TITLE]) for one in counted.values()]
            dampened = dampen(conn, wanted, lease_token=lease_token, limits=limits)
            refused = counted.keys() - dampened.granted.keys()
            ready = [one for one in ready if one.delivery.work.id not in refused]
            ready, waiting = _within_rate(conn, ready)
            cursor = open_attempts(conn, _openings(ready), lease_token=lease_token)
    else:
        ready, waiting = _within_rate(conn, ready)
        cursor = open_attempts(conn, _openings(ready), lease_token=lease_token)
    opened = {one.outbox_id: one for one in cursor.fetchall()}
    if late := len(ready) - len(opened):
        log.warning("lost the lease before sending; sent nothing", extra={"count": late})
    ready = [_as_it_is_now(one, dampened) for one in ready if one.delivery.work.id in opened]
    return OpenedBatch([(one, opened[one.delivery.work.id]) for one in ready], dampened, waiting)


def _within_rate(conn: Connection[Any], ready: list[Ready]) -> tuple[list[Ready], list[Settlement]]:
    """Take a token for each message to a provider with a rate limit; what finds none waits, at no cost."""
    wanted = Counter(one.way.config_id for one in ready if one.way.config_id and one.way.rate_limit)
    if not wanted:
        return ready, []
    grants = provider_configs.take_tokens(conn, {config_id: count for config_id, count in wanted.items() if config_id})
    allowed: list[Ready] = []
    waiting: list[Settlement] = []
    used: Counter[UUID] = Counter()
    for one in ready:
        grant = grants.get(one.way.config_id) if one.way.config_id else None
        if grant is None or used[grant.config_id] < grant.granted:
            allowed.append(one)
        else:
            place = used[grant.config_id] - grant.granted + 1
            delay = timedelta(seconds=max(1.0, place * grant.seconds_per_token))
            waiting.append(settlement.defer(one.delivery, "provider_rate_limit", delay))
        if grant is not None:
            used[grant.config_id] += 1
    return allowed, waiting


def _openings(ready: list[Ready]) -> list[Opening]:
    return [Opening(one.delivery.work.id, one.channel.provider, one.supersedes) for one in ready]


def _as_it_is_now(ready: Ready, dampened: Dampened) -> Ready:
    """A digest may have grown until it was closed: its words are those of all that it holds."""
    delivery = ready.delivery
    payload = dampened.granted.get(delivery.work.id)
    if delivery.record.audience_kind != "digest" or payload is None or payload == delivery.record.payload:
        return ready
    grown = delivery._replace(record=delivery.record._replace(payload=payload))
    try:
        content = render.of_delivery(grown, ready.letterhead)
    except plain.Unrenderable:  # its attempt is open already; the built-in words tell it all
        content = render.of_wording(render.wording_of(grown)._replace(template=None), ready.letterhead)
    return replace(ready, content=content)
