"""Lists of notifications: whatever way they are found by, they are what the plain definition says, page after page."""

import itertools
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.world import OTHER_TENANT, TENANT, World
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import records, routes

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
STATUSES = ("pending", "failed", "published", "dead_letter", "skipped", "cancelled")
CHANNELS = ("email", "sms", "push", "in_app", "webhook")
PEOPLE = ("user:alice", "user:bob", "user:stranger", "address")
ENDED = {"published": "published_at", "dead_letter": "dead_lettered_at", "skipped": "skipped_at", "cancelled": "cancelled_at"}
NO_FILTER = dict.fromkeys(("type", "producer", "status", "channel", "recipient", "since", "until"))
PAGE = 7
Row = dict[str, Any]


@pytest.fixture
def asked(world: World) -> list[Row]:
    """Eighty records of few moments, with none to five routes each; the same again for another tenant."""
    chance = random.Random(9)  # noqa: S311 - the same world each time
    world.add_tenant()
    made = [_record(chance, n) for n in range(80)]
    for tenant in (TENANT, OTHER_TENANT):
        for record in made:
            _insert(world, record if tenant == TENANT else _copy(record), tenant)
    return sorted(made, key=lambda one: (one["accepted_at"], one["notification_id"]), reverse=True)


def _record(chance: random.Random, n: int) -> Row:
    # ids that do not follow the time, as those of several clocks do not
    return {
        "notification_id": UUID(int=chance.getrandbits(128)),
        "type": chance.choice(("news", "alarm")),
        "producer": chance.choice(("shop", "billing")),
        "accepted_at": NOON + timedelta(hours=chance.randrange(6)),
        "routes": [_route(chance, place, CHANNELS if n % 2 else CHANNELS[:2]) for place in range(chance.randrange(6))],
    }


def _route(chance: random.Random, place: int, channels: tuple[str, ...]) -> Row:
    channel = chance.choice(channels)
    statuses = STATUSES[2:] if channel == "in_app" else STATUSES  # what goes to the inbox does not wait
    return {
        "route_id": str(place),
        "status": chance.choice((*statuses, "published")),
        "channel": channel,
        "recipient": chance.choice(PEOPLE),
    }


def _copy(record: Row) -> Row:
    return record | {"notification_id": uuid7()}


def _insert(world: World, record: Row, tenant: UUID) -> None:
    known = {"tenant": tenant, "id": record["notification_id"], "at": record["accepted_at"]}
    world.admin.execute(
        """INSERT INTO records (notification_id, tenant_id, notification_type, producer, audience_kind, payload_json,
               idempotency_key, request_fingerprint, occurred_at, accepted_at, updated_at, idempotency_expires_at)
           VALUES (%(id)s, %(tenant)s, %(type)s, %(producer)s, 'users', '{}', %(id)s, '', %(at)s, %(at)s, %(at)s, %(at)s)""",
        known | {"type": record["type"], "producer": record["producer"]},
    )
    for route in record["routes"]:
        ended = f", {ENDED[route['status']]}" if route["status"] in ENDED else ""
        world.admin.execute(
            f"""INSERT INTO routes (notification_id, route_id, tenant_id, channel, recipient_ref, status, reason, max_attempts,
                    created_at, updated_at, accepted_at{ended})
                VALUES (%(id)s, %(route_id)s, %(tenant)s, %(channel)s, %(recipient)s, %(status)s, 'r', 5, %(at)s, %(at)s,
                    %(at)s{", %(at)s" if ended else ""})""",  # type: ignore[call-overload]
            known | route,
        )
        if not ended:
            world.admin.execute(
                """INSERT INTO outbox (id, tenant_id, source_kind, queue, notification_id, route_id, due_at, max_attempts,
                       retry_backoff, retry_base_ms)
                   VALUES (%(outbox_id)s, %(tenant)s, 'deliver', %(channel)s, %(id)s, %(route_id)s, %(at)s, 5, 'linear', 1)""",
                known | route | {"outbox_id": uuid7()},
            )


def _matches(record: Row, wanted: Row) -> bool:
    """The definition."""
    on_routes = {name: wanted[name] for name in ("status", "channel", "recipient") if wanted[name] is not None}
    return (
        wanted["type"] in (None, record["type"])
        and wanted["producer"] in (None, record["producer"])
        and (wanted["since"] is None or record["accepted_at"] >= wanted["since"])
        and (wanted["until"] is None or record["accepted_at"] < wanted["until"])
        and (not on_routes or any(on_routes.items() <= route.items() for route in record["routes"]))
    )


def _pages(world: World, wanted: Row, limit: int = PAGE) -> Iterator[list[Row]]:
    after = None
    while True:
        with tenant_transaction(world.app, TENANT):
            page = records.list_page(world.app, TENANT, filters=wanted, limit=limit, after=after)
        yield page
        if len(page) < limit:
            return
        after = (page[-1]["accepted_at"], page[-1]["notification_id"])


def _every_wish() -> Iterator[Row]:
    more: tuple[Row, ...] = (
        {},
        {"type": "alarm"},
        {"producer": "billing", "since": NOON + timedelta(hours=2)},
        {"since": NOON + timedelta(hours=1), "until": NOON + timedelta(hours=4)},
    )
    for status, channel, recipient in itertools.product((None, *STATUSES), (None, *CHANNELS), (None, *PEOPLE, "user:nobody")):
        yield from (NO_FILTER | {"status": status, "channel": channel, "recipient": recipient} | one for one in more)


def _differences(world: World, asked: list[Row]) -> list[Row]:
    return [
        wanted
        for wanted in _every_wish()
        if [row["notification_id"] for page in _pages(world, wanted) for row in page]
        != [one["notification_id"] for one in asked if _matches(one, wanted)]
    ]


def test_every_combination_of_filters_lists_page_by_page_what_matches_newest_first(world: World, asked: list[Row]) -> None:
    assert _differences(world, asked) == []


def test_a_backlog_too_deep_to_be_sorted_changes_nothing(world: World, asked: list[Row], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "_MOST_SORTED", 3)

    for status, channel in itertools.product(("pending", "failed"), (None, *CHANNELS)):
        wanted = NO_FILTER | {"status": status, "channel": channel}
        listed = [row["notification_id"] for page in _pages(world, wanted) for row in page]
        assert listed == [one["notification_id"] for one in asked if _matches(one, wanted)]


@pytest.mark.parametrize(
    "wanted", [{"recipient": "user:alice"}, {"status": "skipped"}, {"channel": "email"}, {"status": "failed"}]
)
def test_a_row_counts_all_routes_of_its_notification_whatever_found_it(world: World, asked: list[Row], wanted: Row) -> None:
    counts = {one["notification_id"]: [route["status"] for route in one["routes"]] for one in asked}

    (page, *_) = _pages(world, NO_FILTER | wanted)

    for row in page:
        assert row["routes"] == {status: counts[row["notification_id"]].count(status) for status in row["routes"]}
        assert sum(row["routes"].values()) == len(counts[row["notification_id"]])
