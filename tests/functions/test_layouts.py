"""Layouts and partials over HTTP: made, listed, used by templates, kept while they are in use; mails have those of their time."""

from datetime import timedelta
from typing import Any

import pytest

from tests.functions.doors import Api
from tests.world import OTHER_TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.store import layouts

SHOP = {"kind": "layout", "name": "shop", "body": "<main>{{ content }}</main>{% render 'foot', n: 1 %}"}
FOOT = {"kind": "partial", "name": "foot", "body": "<p>Foot {{ n }}</p>"}
EMAIL = {"name": "shipped", "channel": "email", "subject": "Order", "body": "<p>{{ order }}</p>", "layout": "shop"}


@pytest.fixture
def shop(world: World, api: Api) -> Api:
    for part in (FOOT, SHOP):
        assert api.post("/v1/layouts", part).status == 201
    return api


def test_a_layout_is_made_and_shown_and_the_next_one_is_its_next_version(world: World, shop: Api) -> None:
    made = shop.post("/v1/layouts", SHOP | {"body": "{{ content }}"}).json

    listed, versions = shop.get("/v1/layouts").json["data"], shop.get("/v1/layouts/shop").json["data"]
    assert (made["version"], made["partials"], made["is_active"], made["locale"]) == (2, [], True, "default")
    assert [(one["name"], one["version"]) for one in listed] == [("shop", 2), ("foot", 1)]
    assert [(one["version"], one["is_active"], one["partials"]) for one in versions] == [(2, True, []), (1, False, ["foot"])]
    assert world.one("SELECT count(*) FROM audit_logs WHERE resource_type = 'layout'") == 3


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"kind": "frame"}, "/kind"),
        ({"kind": "partial", "body": "x"}, "/kind"),
        ({"name": "it's"}, "/name"),
        ({"locale": "portuguese please"}, "/locale"),
        ({"body": "<p>no place</p>"}, "/body"),
        ({"body": "{{ content }}{{ content }}"}, "/body"),
        ({"body": "{{ content }}{% render 'nobody' %}"}, "/body"),
        ({"body": "{{ content }}{% render nobody %}"}, "/body"),
        ({"version": 7}, "/version"),
    ],
)
def test_what_is_wrong_with_a_layout_is_told_with_its_place(shop: Api, change: dict[str, Any], pointer: str) -> None:
    refused = shop.post("/v1/layouts", SHOP | change)

    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, pointer)


def test_a_ring_is_refused_whoever_closes_it(shop: Api) -> None:
    assert shop.post("/v1/layouts", FOOT | {"name": "a", "body": "{% render 'foot' %}"}).status == 201

    refused = shop.post("/v1/layouts", FOOT | {"body": "{% render 'a' %}"})

    assert refused.status == 422
    assert "a → foot → a" in refused.json["errors"][0]["message"]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"layout": "nobody"}, "/layout"),
        ({"layout": "foot"}, "/layout"),
        ({"channel": "push"}, "/layout"),
        ({"body": "{% render 'nobody' %}"}, "/body"),
        ({"body": "{% render 'shop' %}"}, "/body"),
        ({"body": "<script>"}, "/body"),
        ({"text": "{% render 'foot' %}"}, "/text"),
    ],
)
def test_a_template_names_what_there_is(shop: Api, change: dict[str, Any], pointer: str) -> None:
    wrong = EMAIL | change

    refused = shop.post("/v1/templates", wrong)
    of_draft = shop.post("/v1/templates/preview", {name: wrong[name] for name in wrong if name != "name"})

    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, pointer)
    assert (of_draft.status, of_draft.json["errors"][0]["pointer"]) == (422, pointer)


def test_templates_and_drafts_are_previewed_in_the_nearest_layout(shop: Api) -> None:
    shop.put("/v1/brand", {"name": "Shop"})
    body = "<b>{{ content }}</b>{{ brand.name }}<a href='{{ unsubscribe_url }}'>sair</a>"
    shop.post("/v1/layouts", SHOP | {"locale": "pt", "body": body})
    assert shop.post("/v1/templates", EMAIL).json["layout"] == "shop"
    shop.post("/v1/templates", EMAIL | {"locale": "pt-BR"})
    draft = {name: EMAIL[name] for name in EMAIL if name != "name"} | {"payload": {"order": "A-17"}}

    ours, theirs = (
        shop.post("/v1/templates/shipped/preview", {"channel": "email", "locale": locale, "payload": {"order": "A-17"}}).json
        for locale in ("default", "pt-BR")
    )

    assert ours["html"] == "<main><p>A-17</p></main><p>Foot 1</p>" == shop.post("/v1/templates/preview", draft).json["html"]
    assert ours["text"] == "A-17\n\nFoot 1"
    assert theirs["html"] == "<b><p>A-17</p></b>Shop<a href='…/u/…'>sair</a>"


def test_what_is_in_use_stays(world: World, shop: Api) -> None:
    shop.post("/v1/templates", EMAIL)
    kept = {name: shop.delete(f"/v1/layouts/{name}") for name in ("shop", "foot")}
    shop.delete("/v1/templates/shipped")

    assert {name: (one.status, one.json["type"].rpartition("#")[2]) for name, one in kept.items()} == {
        "shop": (409, "layout-in-use"),
        "foot": (409, "layout-in-use"),
    }
    assert "template `shipped`" in kept["shop"].json["detail"]
    assert "layout `shop`" in kept["foot"].json["detail"]
    assert [shop.delete(f"/v1/layouts/{name}").status for name in ("shop", "foot", "shop")] == [204, 204, 404]
    assert shop.post("/v1/templates", EMAIL).json["errors"][0]["pointer"] == "/layout"


def test_nobody_sees_anothers_layouts(world: World, shop: Api) -> None:
    world.add_tenant()
    key = world.add_key("manage", tenant=OTHER_TENANT)

    assert shop.get("/v1/layouts", key=key).json["data"] == []
    assert (shop.get("/v1/layouts/shop", key=key).status, shop.delete("/v1/layouts/shop", key=key).status) == (404, 404)
    assert shop.post("/v1/templates", EMAIL, key=key).json["errors"][0]["pointer"] == "/layout"


def _sent(world: World) -> str:
    world.dispatch()
    return world.email.accepted[-1].content.html


def test_a_mail_has_the_versions_of_the_time_it_was_planned_in_and_its_page_says_the_same(world: World, shop: Api) -> None:
    world.add_user()
    shop.post("/v1/templates", EMAIL)
    world.email.answers.append(Failure(FailureClass.TRANSIENT, "x", "x"))
    asked = world.accept(template="shipped", payload={"order": "A-17"})
    world.dispatch()
    world.pass_time(timedelta(minutes=1))
    shop.post("/v1/layouts", FOOT | {"body": "<p>new</p>"})

    before = _sent(world)
    route_id = world.route()["route_id"]
    page = shop.get(f"/v1/notifications/{asked.notification_id}/routes/{route_id}/message").json
    world.accept(template="shipped", payload={"order": "A-18"})
    after = _sent(world)

    assert before == "<main><p>A-17</p></main><p>Foot 1</p>"
    assert (page["html"], page["as_sent"]) == (before, True)
    assert after == "<main><p>A-18</p></main><p>new</p>"


def test_a_layout_has_the_readers_links_where_the_type_is_not_transactional(world: World, shop: Api) -> None:
    world.add_user()
    shop.post("/v1/layouts", SHOP | {"body": "{{ content }}[{{ unsubscribe_url }}][{{ preferences_url }}]"})
    shop.post("/v1/templates", EMAIL)
    world.accept(template="shipped", payload={"order": "A-17"})
    transactional = _sent(world)
    shop.put("/v1/notification-types/order.shipped", {"transactional": False})
    asked = world.accept(template="shipped", payload={"order": "A-17"})
    other = _sent(world)
    route_id = world.rows("SELECT route_id FROM routes ORDER BY created_at DESC")[0]["route_id"]
    page = shop.get(f"/v1/notifications/{asked.notification_id}/routes/{route_id}/message").json

    assert transactional == "<p>A-17</p>[][]"
    assert "/u/" in other
    assert "/p/" in other
    assert page["html"] == "<p>A-17</p>[…/u/…][…/p/…]"


def test_what_a_layout_made_unrenderable_is_replayed_with_the_repaired_one(world: World, shop: Api) -> None:
    world.add_user()
    shop.post("/v1/layouts", FOOT | {"body": "<a href='{{ order }}'>x</a>"})
    shop.post("/v1/templates", EMAIL)
    world.accept(template="shipped", payload={"order": "javascript:x"})
    world.dispatch()
    (letter,) = world.rows("SELECT id, failure_classification FROM dead_letters")
    world.pass_time(timedelta(seconds=1))
    shop.post("/v1/layouts", FOOT)

    replayed = shop.post(f"/v1/dead-letters/{letter['id']}/replay", {})

    assert (letter["failure_classification"], replayed.status) == ("unrenderable", 202)
    assert _sent(world) == "<main><p>javascript:x</p></main><p>Foot 1</p>"


def test_only_what_names_a_layout_pays_for_it(world: World, shop: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    find = layouts.find_parts
    monkeypatch.setattr(layouts, "find_parts", lambda conn, wanted: asked.append(len(wanted)) or find(conn, wanted))
    world.add_user()
    shop.post("/v1/templates", EMAIL)
    asked.clear()

    world.accept()
    world.dispatch()
    without = list(asked)
    for n in range(5):
        world.accept(template="shipped", payload={"order": f"A-{n}"})
    world.dispatch()

    assert without == []
    assert len(asked) == 1
    assert {one.content.html for one in world.email.accepted[1:]} == {f"<main><p>A-{n}</p></main><p>Foot 1</p>" for n in range(5)}
