"""Replay: start anew what died. Each letter once, whoever asks and however often."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.dead_letters.obstacles import Obstacle, obstacle_of
from tocsin.foundation import work_queue
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.due import Due
from tocsin.store import admin_system_events
from tocsin.store.flow import letter_standing
from tocsin.store.flow import replay as statements
from tocsin.store.flow.replay import Again
from tocsin.upkeep.run_job import FAILED

_TOLD_BY_NOTICE = ("webhook", "trigger")  # work on these queues is nudged by whoever has the connection


@dataclass(frozen=True, slots=True)
class Replays:
    """What came of several letters: what is done again, what is not and why, and which of the former may have arrived before."""

    again: list[Again]
    not_replayed: dict[UUID, Obstacle]
    in_doubt: set[UUID]

    @property
    def due(self) -> list[Due]:
        return [one.due for one in self.again if one.queue not in _TOLD_BY_NOTICE]


@dataclass(frozen=True, slots=True)
class Replayed:
    again: Again
    in_doubt: bool


def replay(conn: Connection[Any], actor: Actor, letter_id: UUID, *, by: UUID, past_expiry: bool) -> Replayed | Obstacle | None:
    """None: there is no such letter. `by` is the key of whoever asks."""
    with tenant_transaction(conn, actor.tenant_id):
        made = replay_letters(conn, actor.tenant_id, [letter_id], by=by, past_expiry=past_expiry)
        for one in made.again:
            changes = {"new": {"resolution": "replayed", "generation": one.generation, "past_expiry": past_expiry}}
            audit.record(conn, actor, "replay", "dead_letter", str(letter_id), changes)
    work_queue.nudge(made.due)
    if made.again:
        return Replayed(made.again[0], bool(made.in_doubt))
    return made.not_replayed.get(letter_id)


def replay_letters(conn: Connection[Any], tenant_id: UUID, ids: list[UUID], *, by: UUID, past_expiry: bool) -> Replays:
    """Within a transaction of the caller's, who nudges after it."""
    statements.lock(conn, tenant_id, ids)
    standing = letter_standing.look(conn, tenant_id, ids)
    obstacles = {one.id: obstacle_of(one, past_expiry=past_expiry) for one in standing}
    free = [letter_id for letter_id, obstacle in obstacles.items() if obstacle is None]
    kinds = {one.source_kind for one in standing if obstacles[one.id] is None}
    again: list[Again] = []
    if "deliver" in kinds:
        again += statements.replay_deliveries(conn, tenant_id, free, by=by, past_expiry=past_expiry)
    if "webhook" in kinds:
        again += statements.replay_webhooks(conn, tenant_id, free, by=by)
    if kinds - {"deliver", "webhook"}:
        again += statements.replay_work(conn, tenant_id, free, by=by, past_expiry=past_expiry)
    for one in again:
        if one.source_kind == "replay":
            admin_system_events.resolve(conn, tenant_id, event_type=FAILED, subject=f"replay:{one.outbox_id}")
    done = {one.letter_id for one in again}
    lost = {
        one: Obstacle("superseded", "Somebody else has changed what it was about just now.") for one in free if one not in done
    }
    kept = {letter_id: obstacle for letter_id, obstacle in obstacles.items() if obstacle is not None}
    return Replays(again, kept | lost, {one.id for one in standing if one.in_doubt and one.id in done})
