"""Whatever is shown says when it was made and when it was last changed, by the database's clock; and what was chosen for it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.functions.doors import Api
from tests.letters import bury_delivery
from tests.operators import keep_malformed
from tests.providers import make_data_key
from tests.triggers import INTENT
from tests.webhooks import add_hook
from tests.world import World
from tocsin.foundation import database
from tocsin.webhooks import signing_secrets

LATER = timedelta(hours=3)
WHOSE = {"user_id": "alice"}
URL = "https://hooks.example.com/tocsin"
HOOK = {"url": URL, "events": ["notification.published"]}
TRIGGER = {"kind": "kv", "collection_glob": "*", "handler": {"kind": "intent", "intent": INTENT}}
TEMPLATE = {"name": "shipped", "channel": "sms", "body": "It is on its way."}
PROVIDER = {"provider_name": "ses", "channel": "email"}

# made, then changed three hours later; each way shows it as it is at the end
Way = Callable[[World, Api], Iterator[dict[str, Any]]]


def _user(world: World, api: Api) -> Iterator[dict[str, Any]]:
    yield api.put("/v1/users/bob", {}).json
    api.put("/v1/users/bob", {"locale": "de"})
    yield api.get("/v1/users/bob").json


def _template(world: World, api: Api) -> Iterator[dict[str, Any]]:
    yield api.post("/v1/templates", TEMPLATE).json
    api.post("/v1/templates", TEMPLATE)
    yield api.get("/v1/templates/shipped").json["data"][-1]


def _hook(world: World, api: Api) -> Iterator[dict[str, Any]]:
    made = api.post("/v1/webhooks", HOOK).json
    yield made
    yield api.patch(f"/v1/webhooks/{made['id']}", {"description": "ours"}).json


def _provider(world: World, api: Api) -> Iterator[dict[str, Any]]:
    made = api.post("/v1/providers", PROVIDER).json
    yield made
    api.patch(f"/v1/providers/{made['id']}", {"priority": 3})
    yield api.get("/v1/providers").json["data"][0]


def _trigger(world: World, api: Api) -> Iterator[dict[str, Any]]:
    made = api.post("/v1/triggers", TRIGGER).json
    yield made
    yield api.patch(f"/v1/triggers/{made['id']}", {"name": "ours"}).json


def _preference(world: World, api: Api) -> Iterator[dict[str, Any]]:
    yield api.put("/v1/inbox/preferences/email", {"enabled": True}, query=WHOSE).json
    api.put("/v1/inbox/preferences/email", {"enabled": False}, query=WHOSE)
    yield api.get("/v1/inbox/preferences/email", query=WHOSE).json


def _inbox_row(world: World, api: Api) -> Iterator[dict[str, Any]]:
    for title in ("first", "second"):
        world.accept(channels=["in_app"], thread={"kind": "order", "id": "7"}, payload={"title": title})
        world.dispatch()
        yield api.get("/v1/inbox", query=WHOSE).json["data"][0]


WAYS = (_user, _template, _hook, _provider, _trigger, _preference, _inbox_row)


@pytest.fixture(autouse=True)
def data_key(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    signing_secrets.forget()
    make_data_key(monkeypatch)
    world.add_user()


def _is_about(text: str, moment: datetime) -> bool:
    return abs(datetime.fromisoformat(text) - moment) < timedelta(minutes=5)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
def test_what_is_shown_says_when_it_was_made_and_when_it_was_changed(world: World, api: Api, way: Way) -> None:
    now = datetime.now(UTC)
    steps = way(world, api)

    made = next(steps)
    world.pass_time(LATER)
    database.disconnect()  # the next call reads the new time
    changed = next(steps)

    assert [_is_about(made[name], now) for name in ("created_at", "updated_at")] == [True, True]
    assert changed["created_at"] == made["created_at"]
    assert _is_about(changed["updated_at"], now + LATER)


def test_a_key_is_listed_with_its_name_and_since_when(world: World, api: Api) -> None:
    now = datetime.now(UTC)
    api.post("/v1/api-keys", {"name": "shop server", "producer": "shop", "scopes": ["send"]})
    world.pass_time(LATER)
    database.disconnect()
    api.post("/v1/api-keys", {"name": "till", "producer": "shop", "scopes": ["send"]})

    till, server, *_ = api.get("/v1/api-keys").json["data"]

    assert (till["name"], server["name"]) == ("till", "shop server")
    assert _is_about(server["created_at"], now)
    assert _is_about(till["created_at"], now + LATER)


def test_a_delivery_says_of_which_notification_it_told_and_since_when(world: World, api: Api) -> None:
    now = datetime.now(UTC)
    hook = add_hook(world, URL).id
    asked = world.accept()
    world.dispatch()

    (delivery,) = api.get(f"/v1/webhooks/{hook}/deliveries").json["data"]

    assert delivery["notification_id"] == str(asked.notification_id)
    assert _is_about(delivery["created_at"], now)


def test_the_time_that_a_provider_is_given_is_the_one_that_was_chosen(api: Api) -> None:
    api.post("/v1/providers", PROVIDER | {"timeout_seconds": 7})

    assert [one["timeout_seconds"] for one in api.get("/v1/providers").json["data"]] == [7]


def test_what_operators_read_says_since_when(world: World) -> None:
    bury_delivery(world)
    keep_malformed(world, {})
    operator = Api(world.add_key("operate"))
    made = operator.post("/v1/system-events", {"event_type": "incident", "severity": "low", "description": "x"})
    assert made.status == 201

    said = [
        operator.get("/v1/dead-letters").json["data"][0]["created_at"],
        operator.get("/v1/malformed-intents").json["data"][0]["recorded_at"],
        operator.get("/v1/system-events").json["data"][0]["created_at"],
    ]

    assert all(abs(datetime.fromisoformat(moment) - datetime.now(UTC)) < timedelta(minutes=5) for moment in said)
