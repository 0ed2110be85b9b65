"""Deliver: prepare, attach, open, send, settle. No transaction is open while a provider is called."""

import time
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.channels.ways import Ways
from tocsin.delivery.attach import attach
from tocsin.delivery.copies import with_copies
from tocsin.delivery.counting import Count, count_outcomes
from tocsin.delivery.open import open_all
from tocsin.delivery.prepare import Policy, Ready, prepare
from tocsin.delivery.send import send_all
from tocsin.delivery.settle import of_sent, settle
from tocsin.foundation import work_queue
from tocsin.foundation.database import Insist
from tocsin.foundation.due import Due
from tocsin.store.rows import Delivery, Lane, Opened, Settlement


def deliver(
    conn: Connection[Any],
    deliveries: list[Delivery],
    *,
    lease_token: UUID,
    lease: timedelta,
    claimed_since: float,
    send_until: float,
    ways: Ways,
    troubled: dict[str, Lane],
    policy: Policy,
    insist: Insist,
    count: Count,
) -> None:
    """Take these claimed deliveries to their next recorded state.

    `claimed_since` is when the claim began, on this process's monotonic clock; after `send_until` nothing more is handed to a
    provider. What the providers answered is recorded through `insist`, which finds another connection if this one dies."""
    prepared = prepare(conn, deliveries, ways=ways, troubled=troubled, lease=lease, claimed_since=claimed_since, policy=policy)
    copied = with_copies(conn, prepared.ready)
    ready, unattached = attach(copied, send_until=send_until, allow_private=policy.allow_private)
    opened = open_all(conn, ready, lease_token=lease_token, limits=policy.limits)
    sent = send_all(opened.attempts, send_until=send_until, concurrency=policy.send_concurrency)
    outcomes = [of_sent(one, evidence_window=policy.evidence_window) for one in sent]
    settlements = [*prepared.settled, *unattached, *opened.waiting, *outcomes]
    woken = settle(settlements, sent, lanes=prepared.lanes, lease_token=lease_token, policy=policy, insist=insist)
    decided = [*settlements, *opened.dampened.refused]
    _count_doubts(opened.attempts, decided, count)
    if over_sent := len(opened.dampened.over_sent):
        count("OverSendingSkipped", over_sent)
    count_outcomes(deliveries, decided, count, held_for=time.monotonic() - claimed_since)
    _nudge(deliveries, decided, opened.dampened.digests, woken)


def _count_doubts(opened: list[tuple[Ready, Opened]], settlements: list[Settlement], count: Count) -> None:
    """What is in doubt is on record; its number is the installation's to watch."""
    if second_copies := sum(ready.supersedes is not None for ready, _ in opened):
        count("DuplicatesSuspected", second_copies)
    if in_doubt := sum(one.may_have_arrived for one in settlements):
        count("EndedInDoubt", in_doubt)


def _nudge(
    deliveries: list[Delivery], settlements: list[Settlement], digests: list[tuple[timedelta, Due]], woken: list[Due]
) -> None:
    """Nudge for what goes on soon, a second after it is due at the latest."""
    queued = {one.work.id: Due(one.work.id, one.route.channel, one.work.tenant_id) for one in deliveries}
    later = [(one.delay, [queued[one.outbox_id]]) for one in settlements if one.is_nudged and one.delay is not None]
    later += [(delay, [digest]) for delay, digest in digests]
    if later or woken:
        work_queue.nudge_each([(timedelta(0), woken), *later])
