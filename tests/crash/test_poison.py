"""Work that ends its worker is buried after three deaths, alone."""

import os
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from tests.crash import invariants
from tests.crash.site import Site
from tests.crash.traffic import INTENT
from tocsin.content import plain, render

MOST_ROUNDS = 10


def die_when_rendering() -> None:
    """The words cannot even be made for the inbox: the plan kills."""
    plain.render = _deadly(plain.render)


def die_when_sending() -> None:
    """Planning works; the message kills."""
    render.plain = SimpleNamespace(render=_deadly(plain.render))  # type: ignore[assignment]


def _deadly(render: Callable[..., Any]) -> Callable[..., Any]:
    def render_or_die(notification_type: str, payload: dict[str, Any]) -> Any:
        if notification_type == "poison":
            os._exit(9)
        return render(notification_type, payload)

    return render_or_die


@pytest.mark.parametrize(
    ("death", "channels", "buried"),
    [
        (die_when_rendering, ["in_app"], {("plan", None)}),
        (die_when_sending, ["email", "sms"], {("deliver", "email"), ("deliver", "sms")}),
    ],
)
def test_poison_is_buried_after_three_deaths_and_its_neighbours_are_published(
    death: Callable[[], None], channels: list[str], buried: set[tuple[str, str | None]], site: Site
) -> None:
    to = {"kind": "address", "email": "victim@example.com", "phone": "+4915112345699"}
    site.world.accept(type="poison", audience=to, channels=None)
    site.world.admin.execute("UPDATE records SET channels = %s", [channels])  # as a type may say, of an address too
    site.world.accept(**INTENT)
    site.world.accept(audience={"kind": "address", "email": "neighbour@example.com"})

    deaths = drain_among_deaths(site, death)

    found = invariants.check(site.world, site.office.ledger())
    graves = [(letter["source_kind"], letter["channel"] or None, letter["failure_classification"]) for letter in found.letters]
    assert sorted(graves, key=str) == sorted([(*grave, "poison") for grave in buried], key=str)
    assert deaths == 3 * len(buried) - (len(buried) - 1), "the first death may take several; each then dies alone"
    rest = [row for row in found.routes.values() if row["recipient_ref"] != "address" or row["resolved_email"] == to["email"]]
    assert {row["status"] for row in found.routes.values() if row not in rest} == {"published"}
    assert "victim@example.com" not in [entry["to"][0] for entry in found.ledger]


def drain_among_deaths(site: Site, death: Callable[[], None]) -> int:
    """Sweep and dispatch, each dispatch in a process of its own, until nothing is left; how many of them died."""
    deaths = 0
    for _ in range(MOST_ROUNDS):
        if not site.world.due():
            return deaths
        site.world.pass_time(timedelta(seconds=301))
        site.invoke("sweep", {})
        ending = site.invoke("dispatch", {"Records": site.messages()}, before=death)
        assert not ending.error, ending.error
        deaths += bool(ending.killed_at)
    pytest.fail(f"not drained after {MOST_ROUNDS} rounds and {deaths} deaths: {site.world.rows('SELECT * FROM outbox')}")
