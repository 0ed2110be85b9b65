"""What a list shows, its filter takes: of every filter with choices, in every list."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.content import add_suppression
from tests.functions.operations import EVERY, Stage
from tests.letters import bury_delivery, bury_plan
from tests.operators import abandon
from tests.world import World
from tocsin.api.notifications import STATES, STATUSES
from tocsin.http.door import Endpoint
from tocsin.upkeep.roll_up import roll_up

Parameter = dict[str, Any]
CONSOLE = Path(__file__).parent.parent.parent / "functions" / "operate" / "web"


def _choices(endpoint: Endpoint) -> dict[str, Parameter]:
    found = {one["name"]: one["schema"] for one in endpoint.parameters if one["in"] == "query"}
    return {name: schema for name, schema in found.items() if "enum" in schema or schema.get("type") == "boolean"}


LISTS = {one.route: one for one in EVERY if one.route.startswith("GET ") and _choices(one)}

# what may stand there: the column whose CHECK says it, or the words themselves
SHOWN: dict[tuple[str, str], list[str | tuple[str, ...]]] = {
    ("GET /v1/notifications", "status"): [STATES, "routes.status"],
    ("GET /v1/notifications", "channel"): ["routes.channel"],
    ("GET /v1/decisions", "status"): ["routes.status"],
    ("GET /v1/decisions", "channel"): ["routes.channel"],
    ("GET /v1/dead-letters", "state"): ["dead_letters.resolution"],
    ("GET /v1/dead-letters", "source_kind"): ["outbox.source_kind"],
    ("GET /v1/dead-letters", "channel"): ["routes.channel"],
    ("GET /v1/jobs", "status"): ["jobs.status"],
    ("GET /v1/system-events", "severity"): ["admin_system_events.severity"],
    ("GET /v1/abandoned-executions", "source_kind"): [("plan", "deliver")],  # what can be waited for
    ("GET /v1/webhooks/{id}/deliveries", "status"): ["webhook_deliveries.status"],
    ("GET /v1/email-log", "channel"): ["provider_configs.channel"],
    ("GET /v1/suppressions", "channel"): ["suppressions.channel"],
    ("GET /v1/tenants", "status"): ["tenants.status"],
    ("GET /v1/metrics", "channel"): ["metrics.channel"],
    ("GET /v1/metrics", "mode"): ["metrics.mode"],
    ("GET /v1/metrics/summary", "mode"): ["metrics.mode"],
    ("GET /v1/metrics/recent", "mode"): ["metrics.mode"],
}
NO_STATE = {("GET /v1/inbox", "status"), ("GET /v1/metrics", "by")}  # a part of the inbox, and a step of time


def _allowed(world: World, column: str) -> set[str]:
    """The words that the CHECK of a column allows."""
    table, name = column.split(".")
    rules = world.rows(
        """SELECT pg_get_constraintdef(pg_constraint.oid) AS rule
           FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND conkey = ARRAY[attnum]
           WHERE contype = 'c' AND conrelid = %(table)s::regclass AND attname = %(name)s""",
        table=table,
        name=name,
    )
    return {word for one in rules if "= ANY" in one["rule"] for word in re.findall(r"'(\w+)'::text", one["rule"])}


def test_every_filter_with_choices_is_known_here() -> None:
    known = {(route, name) for route, one in LISTS.items() for name, schema in _choices(one).items() if "enum" in schema}

    assert known == SHOWN.keys() | NO_STATE


@pytest.mark.parametrize(("route", "name"), [*SHOWN])
def test_a_filter_takes_every_word_that_the_schema_lets_stand_there(world: World, route: str, name: str) -> None:
    shown = [_allowed(world, one) if isinstance(one, str) else set(one) for one in SHOWN[route, name]]

    assert all(shown)
    assert set().union(*shown) <= set(_choices(LISTS[route])[name]["enum"])


def test_the_console_offers_every_status_and_no_other() -> None:
    source = (CONSOLE / "notification-parts.js").read_text()
    of_routes, own = (re.search(pattern, source) for pattern in (r"ROUTE_STATUSES = \[(.+?)\]", r"\.\.\.\[(.+?)\]\.map"))

    assert of_routes and own
    assert tuple(json.loads(f"[{of_routes[1]}]")) == STATUSES
    assert (*json.loads(f"[{own[1]}]"), "dead_letter") == STATES


def _some_notifications(stage: Stage) -> None:
    bury_plan(stage.world)
    bury_delivery(stage.world)
    stage.ended()
    stage.sent()


def _some_keys(stage: Stage) -> None:
    stage.api.post(f"/v1/api-keys/{stage.key()}/revoke")
    stage.world.admin.execute("UPDATE api_keys SET expires_at = now() - interval '1 day' WHERE id = %s", [stage.key()])


def _some_events(stage: Stage) -> None:
    stage.incident()
    stage.api.post(f"/v1/system-events/{stage.incident()}/resolve", {"reason": "over"})


def _counted(stage: Stage) -> None:
    stage.ended()
    roll_up(stage.world.retention, has_time=lambda: True)


def _told(stage: Stage) -> dict[str, str]:
    hook = stage.hook()
    assert stage.api.post(f"/v1/webhooks/{hook}/test").status == 202
    return {"id": hook}


# what fills each list whose rows show what it filters by, and where the list is
FILLED: dict[str, Callable[[Stage], Any]] = {
    "GET /v1/notifications": _some_notifications,
    "GET /v1/decisions": lambda stage: stage.ended(),
    "GET /v1/dead-letters": lambda stage: bury_delivery(stage.world),
    "GET /v1/jobs": lambda stage: stage.job(),
    "GET /v1/system-events": _some_events,
    "GET /v1/abandoned-executions": lambda stage: abandon(stage.world),
    "GET /v1/webhooks/{id}/deliveries": _told,
    "GET /v1/email-log": lambda stage: stage.ended(),
    "GET /v1/suppressions": lambda stage: add_suppression(stage.world, "nomore@example.com"),
    "GET /v1/tenants": lambda stage: stage.suspended_tenant(),
    "GET /v1/metrics": _counted,
    "GET /v1/api-keys": _some_keys,
}


EITHER_WAY = {"dead_letter"}  # of a notification: it, or one of its routes


@pytest.mark.parametrize("route", FILLED)
def test_a_row_is_found_by_what_it_shows(stage: Stage, route: str) -> None:
    path = FILLED[route](stage)
    where = route.removeprefix("GET ").format(**path if isinstance(path, dict) else {})
    asked = {"user_id": "alice"} if route == "GET /v1/email-log" else {}

    rows = stage.api.get(where, query=asked).json["data"]

    shown = [
        (row, name, str(row[name]).lower() if isinstance(row[name], bool) else row[name])
        for row in rows
        for name in _choices(LISTS[route]).keys() & row.keys()
        if row[name] not in (None, "")
    ]
    assert shown
    for row, name, value in shown:
        answer = stage.api.get(where, query=asked | {name: value})
        assert answer.status == 200, (name, answer.text)
        assert row in answer.json["data"], (name, value)
        assert {one[name] for one in answer.json["data"]} == {row[name]} or value in EITHER_WAY, (name, value)
