"""GET /v1/search: whatever a person has in hand leads to what it means, and to nothing that the key may not see."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import pytest

from tests.events import happen
from tests.functions.doors import Api
from tests.letters import bury_delivery
from tests.world import OTHER_TENANT, World
from tocsin.channels.outcomes import Accepted
from tocsin.delivery import search
from tocsin.foundation.ids import uuid7

SES_ID = "0102018f3a9c-5b1d2c3e-0000-4b7e-9d5e-aaaaaaaaaaaa-000000"
ADDRESS = {"kind": "address", "email": "someone@example.com"}


def _search(api: Api, text: str, **options: Any) -> list[dict[str, Any]]:
    answer = api.get("/v1/search", query=f"q={quote(text, safe='')}", **options)
    assert answer.status == 200, answer.text
    assert answer.json["q"] == text.strip()
    found: list[dict[str, Any]] = answer.json["data"]
    return found


def _brief(found: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(one["kind"], one["matched"], one["id"]) for one in found]


def test_a_notification_is_found_by_its_id(world: World, api: Api) -> None:
    world.add_user()
    asked = world.accept(key="k-1")
    world.dispatch()

    (one,) = _search(api, f" {str(asked.notification_id).upper()}\n".strip())

    assert one.pop("accepted_at")
    assert one == {
        "kind": "notification",
        "matched": "notification_id",
        "id": str(asked.notification_id),
        "type": "order.shipped",
        "status": "finished",
        "producer": "shop",
        "mode": "live",
        "recipient": "user:alice",
    }


def test_space_around_what_was_pasted_does_not_matter(world: World, api: Api) -> None:
    asked = world.accept(key="k-1", audience=ADDRESS)

    assert _brief(_search(api, "  k-1\n")) == [("notification", "idempotency_key", str(asked.notification_id))]


def test_a_key_finds_what_every_producer_sent_with_it_newest_first(world: World, api: Api) -> None:
    """Also when the key is free again and was used anew."""
    first = world.accept(key="order-17", audience=ADDRESS)
    world.admin.execute("UPDATE records SET holds_key = false")
    again = world.accept(key="order-17", audience=ADDRESS)
    others = world.asked(key="order-17", audience=ADDRESS)
    world.try_accept(others, producer="billing")

    found = _search(api, "order-17")

    assert [one["id"] for one in found] == [str(one.notification_id) for one in (others, again, first)]
    assert {(one["matched"], one["producer"]) for one in found} == {("idempotency_key", "shop"), ("idempotency_key", "billing")}


@pytest.mark.parametrize(
    "written", [SES_ID, f"{SES_ID}@eu-west-1.amazonses.com", f"<{SES_ID}@email.amazonses.com>", f"<{SES_ID}>"]
)
def test_a_providers_message_id_leads_to_its_route(world: World, api: Api, written: str) -> None:
    world.add_user()
    world.email.answers.append(Accepted(SES_ID))
    asked = world.accept()
    world.dispatch()

    (one,) = _search(api, written)

    assert (one["matched"], one["id"]) == ("provider_message_id", str(asked.notification_id))
    assert (one["route_id"], one["channel"], one["recipient"]) == (world.route()["route_id"], "email", "user:alice")


def test_routes_without_a_message_id_are_not_found_by_what_is_left_of_one(world: World, api: Api) -> None:
    world.add_user()
    world.accept(channels=["in_app"])
    world.dispatch()

    assert _search(api, "@") == _search(api, "<@x>") == _search(api, "<>") == []


@pytest.mark.parametrize("written", ["someone@example.com", "Someone@Example.COM"])
def test_an_email_finds_what_was_sent_to_the_bare_address(world: World, api: Api, written: str) -> None:
    asked = [world.accept(audience=ADDRESS) for _ in range(2)]
    world.accept(audience={"kind": "address", "email": "another@example.com"})

    found = _search(api, written)

    assert _brief(found) == [("notification", "address", str(one.notification_id)) for one in reversed(asked)]
    assert {one["recipient"] for one in found} == {"address"}


def test_a_phone_number_finds_who_has_it_and_what_was_sent_to_it(world: World, api: Api) -> None:
    world.add_user("alice", phone="+14155550100")
    bare = world.accept(audience={"kind": "address", "phone": "+14155550100"}, channels=["sms"])
    hers = world.accept(channels=["sms"])
    world.dispatch()

    assert _brief(_search(api, "+14155550100")) == [
        ("user", "phone", "alice"),
        ("notification", "address", str(bare.notification_id)),
        ("notification", "recipient", str(hers.notification_id)),
    ]


def test_an_email_finds_who_has_it_and_what_they_got(world: World, api: Api) -> None:
    world.add_user("alice")
    asked = world.accept()
    world.dispatch()

    person, got = _search(api, "Alice@example.com")

    assert person == {
        "kind": "user",
        "matched": "email",
        "id": "alice",
        "email": "alice@example.com",
        "phone": None,
        "username": None,
    }
    assert (got["matched"], got["id"], got["recipient"]) == ("recipient", str(asked.notification_id), "user:alice")


def test_a_user_is_found_by_the_beginning_of_what_is_known_of_them_and_the_whole_comes_first(world: World, api: Api) -> None:
    world.add_user("ann")
    world.add_user("anna")
    world.add_user("bob", email="annabel@example.com")
    api.patch("/v1/users/bob", {"username": "ann.other"})

    assert _brief(_search(api, "ann")) == [("user", "user_id", "ann"), ("user", "username", "bob"), ("user", "user_id", "anna")]
    assert _brief(_search(api, "annab")) == [("user", "email", "bob")]
    assert _brief(_search(api, "ann.other")) == [("user", "username", "bob")]


def test_a_user_whom_nobody_knows_any_more_is_found_by_what_was_sent_to_them(world: World, api: Api) -> None:
    world.add_user("nobody")
    asked = world.accept(audience={"kind": "users", "user_ids": ["nobody"]})
    world.admin.execute("DELETE FROM users")
    world.dispatch()

    assert _brief(_search(api, "nobody")) == [("notification", "recipient", str(asked.notification_id))]


def test_a_dead_letter_and_an_event_are_found_by_their_ids(world: World, api: Api) -> None:
    world.add_user()
    letter_id = bury_delivery(world)
    event_id = happen(world)

    (letter,) = _search(api, str(letter_id))
    (event,) = _search(api, str(event_id))

    assert (letter["kind"], letter["matched"], letter["classification"]) == ("dead_letter", "dead_letter_id", "permanent")
    assert (letter["notification_id"], letter["recipient"]) == (str(world.dead_letters()[0]["notification_id"]), "user:alice")
    assert (event["kind"], event["matched"], event["id"]) == ("event", "event_id", str(event_id))


def test_a_key_that_may_only_read_sees_no_users_no_letters_and_not_whose_an_address_is(world: World, api: Api) -> None:
    world.add_user("alice", phone="+14155550100")
    letter_id = bury_delivery(world)
    reader = world.add_key("read")

    for text in ("alice@example.com", "ali", "+14155550100", str(letter_id)):
        assert _search(api, text) != []
        assert _search(api, text, key=reader) == []


def test_a_key_that_may_only_read_finds_what_was_sent_to_a_user_or_an_address_that_it_knows(world: World, api: Api) -> None:
    """As the list of notifications lets it."""
    world.add_user("alice")
    to_alice, to_address = world.accept(), world.accept(audience=ADDRESS)
    world.dispatch()
    reader = world.add_key("read")

    assert _brief(_search(api, "alice", key=reader)) == [("notification", "recipient", str(to_alice.notification_id))]
    assert [one["id"] for one in _search(api, "someone@example.com", key=reader)] == [str(to_address.notification_id)]


@pytest.mark.parametrize(
    ("scopes", "kinds"),
    [
        (("read", "manage"), {"user"}),
        (("read", "operate"), {"dead_letter"}),
        (("read", "manage", "operate"), {"user", "dead_letter"}),
    ],
)
def test_each_scope_adds_its_own(world: World, api: Api, scopes: tuple[str, ...], kinds: set[str]) -> None:
    world.add_user()
    letter_id = bury_delivery(world)
    world.add_user(str(letter_id))
    key = world.add_key(*scopes)

    assert {one["kind"] for one in _search(api, str(letter_id), key=key)} == kinds


def test_without_read_there_is_nothing_to_search(world: World, api: Api) -> None:
    assert api.get("/v1/search", query="q=x", key=world.add_key("manage", "operate", "send")).status == 403


def test_tenants_never_find_each_others(world: World, api: Api) -> None:
    """By nothing that finds the same for its owner."""
    world.add_tenant()
    world.add_user("alice", tenant=OTHER_TENANT, phone="+14155550100")
    world.email.answers.append(Accepted(SES_ID))
    asked = world.accept(tenant=OTHER_TENANT, key="their-key")
    world.accept(tenant=OTHER_TENANT, audience=ADDRESS)
    world.dispatch()
    theirs = world.add_key("read", "manage", "operate", tenant=OTHER_TENANT)

    for text in (
        str(asked.notification_id),
        "their-key",
        SES_ID,
        "alice",
        "ali",
        "alice@example.com",
        "+14155550100",
        ADDRESS["email"],
    ):
        assert _search(api, text, key=theirs) != [], text
        assert _search(api, text) == [], text


@pytest.mark.parametrize(
    "text", ["%", "_", "a%", "%25", "al_ce", "\\", "' OR 1=1 --", "';--", "*", "a\u0301", "\U0010ffff", "(", "user:alice"]
)
def test_what_means_something_elsewhere_is_only_text_here(world: World, api: Api, text: str) -> None:
    world.add_user("alice")
    world.accept(key="k-1", audience=ADDRESS)
    world.dispatch()

    assert _search(api, text) == []


@pytest.mark.parametrize("text", ["%_\\'\"", "100%", "a_b", "' OR 1=1 --"])
def test_and_is_found_where_it_is_meant(world: World, api: Api, text: str) -> None:
    world.add_user(text, email=None)
    asked = world.accept(key=text, audience=ADDRESS)

    assert _brief(_search(api, text)) == [
        ("notification", "idempotency_key", str(asked.notification_id)),
        ("user", "user_id", text),
    ]


@pytest.mark.parametrize(
    "query", ["", "q=", "q=%20%09", "q=" + "x" * 256, "q=%00", "q=a%00b", "q=%ff", "q=%ed%a0%80", "q=a&q=b", "Q=a"]
)
def test_what_cannot_be_looked_for_is_422(api: Api, query: str) -> None:
    assert api.get("/v1/search", query=query).status == 422


@pytest.mark.parametrize("text", ["x" * 255, "\U0001f514" * 255, "@" * 255, f"{'a' * 64}@{'b' * 180}.com", "+" + "9" * 200])
def test_the_longest_text_is_looked_for(api: Api, text: str) -> None:
    assert _search(api, text) == []


def test_no_more_than_fifty_come_back_each_once(world: World, api: Api) -> None:
    world.add_user("same")
    for n in range(30):
        world.try_accept(world.asked(key="same", audience=ADDRESS), producer=f"p{n}")
    for n in range(30):
        world.add_user(f"same{n}")
        world.accept(audience={"kind": "users", "user_ids": ["same"]})
    world.dispatch()

    found = _search(api, "same")

    assert len(found) == search.MOST == len({(one["kind"], one["id"]) for one in found})


def test_the_surest_comes_first(world: World, api: Api) -> None:
    """A text that is a notification's id, another one's key, and a user's id."""
    named = uuid7()
    asked = world.accept(key=str(uuid4()), audience=ADDRESS)
    world.admin.execute("UPDATE records SET notification_id = %s", [named])
    keyed = world.accept(key=str(named), audience=ADDRESS)
    world.add_user(str(named))
    world.admin.execute("DELETE FROM outbox WHERE id = %s", [asked.notification_id])

    assert [one["matched"] for one in _search(api, str(named))] == ["notification_id", "idempotency_key", "user_id"]
    assert [one["id"] for one in _search(api, str(named))][:2] == [str(named), str(keyed.notification_id)]


def test_a_person_who_was_erased_is_found_no_more(world: World, api: Api) -> None:
    world.add_user("alice", phone="+14155550100")
    world.accept(key="for-alice")
    world.accept(audience={"kind": "address", "email": "alice@example.com"})
    world.dispatch()
    assert api.post("/v1/users/alice/erase").status == 200

    for text in ("alice", "alice@example.com", "+14155550100", "for-alice"):
        assert _search(api, text) == [], text


def test_what_was_looked_for_is_not_logged(
    world: World, api: Api, ears: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor when it fails."""
    world.add_user("alice", email="canary@private.example")
    _search(api, "canary@private.example")
    api.get("/v1/search", query="q=canary%40private.example%00")
    monkeypatch.setattr("tocsin.api.search.search", _failing)
    assert api.get("/v1/search", query="q=canary%40private.example").status == 500

    assert "canary" not in ears()


def _failing(*_: Any, **__: Any) -> list[UUID]:
    raise RuntimeError("no")
