"""What a row of the inbox says beside its words: link, buttons, severity, icon, who did it, and what its type is called."""

from typing import Any

import pytest

from tests.content import add_type
from tests.events import fan_out_all, happen, route
from tests.functions.doors import Api
from tests.functions.readers import Reader, announce, arrive
from tests.world import OTHER_TENANT, World

LINK = "https://shop.example/orders/A-17"
BESIDE = {
    "url": LINK,
    "actions": [{"label": "Track", "url": f"{LINK}/track"}, {"label": "Contact us", "url": "https://shop.example/help"}],
    "severity": "warning",
    "icon": "\N{PACKAGE}",
}
NOTHING: dict[str, Any] = {"url": None, "actions": [], "severity": "info", "icon": None}


@pytest.fixture
def alice(world: World, api: Api) -> Reader:
    world.add_user("alice")
    return Reader(api, "alice")


def _beside(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in NOTHING}


@pytest.mark.parametrize("make", [arrive, announce])
@pytest.mark.parametrize("said", [BESIDE, {}, {"url": LINK}, {"severity": "critical"}], ids=["all", "none", "link", "severity"])
def test_a_row_says_what_its_intent_says_beside_the_words(world: World, alice: Reader, said: dict[str, Any], make: Any) -> None:
    make(world, "x", payload={"title": "Shipped", **said})

    (row,) = alice.rows()

    assert _beside(row) == NOTHING | said
    assert _beside(alice.change(row["id"], saved=True).json) == NOTHING | said


def test_what_an_older_release_let_in_is_left_out(world: World, alice: Reader) -> None:
    arrive(world, "row")
    world.admin.execute(
        """UPDATE notifications SET summary = '{"url": "javascript:alert(1)", "severity": "dire", "icon": "javascript:x",
           "actions": [{"label": "x", "url": "javascript:alert(1)"}, 7, {"label": "ok", "url": "https://a.example"}]}'"""
    )

    assert _beside(alice.row("row")) == NOTHING | {"actions": [{"label": "ok", "url": "https://a.example"}]}
    world.admin.execute("""UPDATE notifications SET summary = '{"url": "javascript:alert(1)"}'""")
    assert _beside(alice.row("row")) == NOTHING


def test_a_row_says_who_did_it_by_name_and_face(world: World, api: Api, alice: Reader) -> None:
    api.put("/v1/users/bob", {"attributes": {"name": "Bob Ross"}, "avatar_url": "https://shop.example/bob.png"})
    api.put("/v1/users/carol", {"username": "carol_c"})
    world.add_user("dan")
    route(world)
    expected = {
        "bob": {"id": "bob", "name": "Bob Ross", "avatar_url": "https://shop.example/bob.png"},
        "carol": {"id": "carol", "name": "carol_c", "avatar_url": None},
        "dan": {"id": "dan", "name": "dan", "avatar_url": None},
    }

    for actor, shown in expected.items():
        happen(world, mentions=["alice"], actor=actor)
        fan_out_all(world)
        (row,) = alice.rows()
        assert (row["actor"], row["last_actor"]) == (shown, actor)
    assert alice.change(row["id"], saved=True).json["actor"] == expected["dan"]


def test_a_row_of_nobody_has_no_actor(world: World, alice: Reader) -> None:
    arrive(world, "row")

    assert (alice.row("row")["actor"], alice.row("row")["last_actor"]) == (None, None)


def test_a_row_says_what_its_type_is_called_today(world: World, alice: Reader) -> None:
    world.add_tenant()
    add_type(world, "order.shipped", title="Deliveries")
    add_type(world, "order.paid")
    add_type(world, "news", title="Of another tenant", tenant=OTHER_TENANT)
    for kind in ("order.shipped", "order.paid", "news"):
        arrive(world, kind, type=kind)
    announce(world, "everyone", type="order.shipped")

    titles = {row["title"]: row["type_title"] for row in alice.rows()}

    assert titles == {"order.shipped": "Deliveries", "order.paid": None, "news": None, "everyone": "Deliveries"}
    assert alice.change(alice.row("everyone")["id"], saved=True).json["type_title"] == "Deliveries"
    add_type(world, "order.shipped", title="Parcels")
    assert alice.row("order.shipped")["type_title"] == "Parcels"
