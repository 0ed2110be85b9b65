"""The claim: what it brings along stands in the order in which it is read."""

from dataclasses import fields
from typing import Any
from uuid import uuid4

from psycopg import Cursor

from tests.world import LEASE, World
from tocsin.store.flow import claim
from tocsin.store.flow.load_runs import load_runs
from tocsin.store.rows import (
    FiredTrigger,
    Hook,
    Lane,
    OpenAttempt,
    PinnedTemplate,
    PushDevice,
    Record,
    RegisteringKey,
    Route,
    RunHandler,
    Unplanned,
    WebhookMessage,
    Wishes,
    Work,
)


def columns(cursor: Cursor[object]) -> list[str]:
    return [column.name for column in cursor.description or []]


def named(*records: Any) -> list[str]:
    return [field for record in records for field in record._fields]


def test_the_columns_of_a_claim_stand_in_the_order_of_its_fields(world: World) -> None:
    claimed = claim.claim(world.worker, [], lease_token=uuid4(), lease=LEASE, limit=1)

    assert columns(claimed) == named(Work)


def test_the_columns_of_a_plan_stand_in_the_order_of_its_fields(world: World) -> None:
    assert columns(claim.load_plans(world.worker, [], lease_token=uuid4())) == ["id", *named(Unplanned)]


def test_the_columns_of_a_delivery_stand_in_the_order_of_its_parts(world: World) -> None:
    loaded = claim.load_deliveries(world.worker, [], lease_token=uuid4())

    assert columns(loaded) == ["id", *named(Record, Route, PushDevice, Wishes, PinnedTemplate, OpenAttempt)]


def test_the_columns_of_a_run_stand_in_the_order_of_its_parts(world: World) -> None:
    loaded = load_runs(world.worker, [], lease_token=uuid4())

    lane = [field.name for field in fields(Lane) if field.name != "is_ours"]
    assert columns(loaded) == ["id", *named(FiredTrigger, RunHandler, RegisteringKey), "letter", "trace_id", *lane]


def test_the_columns_of_a_webhook_stand_in_the_order_of_its_parts(world: World) -> None:
    loaded = claim.load_webhooks(world.worker, [], lease_token=uuid4())

    lane = [field.name for field in fields(Lane) if field.name != "is_ours"]  # whose it is, is known when it is tried
    assert columns(loaded) == ["id", *named(WebhookMessage, Hook), *lane]
