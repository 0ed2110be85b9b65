"""How many calls a key and a person may make in a minute: counted in memory, told by hundredths, and 429 above it."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.functions.doors import Api
from tests.functions.readers import Reader
from tests.functions.test_problems import assert_problem
from tests.recipients import set_clock
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access import authenticate, key_format, rate_limits
from tocsin.access.key_format import SCOPES
from tocsin.foundation import database, settings

TYPES = "/v1/notification-types"


class Clock:
    def __init__(self) -> None:
        self.minute = 1

    def time(self) -> float:
        return self.minute * 60.0 + 5


@pytest.fixture
def clock(world: World, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the environment, which stands still in a minute; so does the database's, nearly."""
    clock = Clock()
    monkeypatch.setattr(rate_limits, "time", SimpleNamespace(time=clock.time))
    set_clock(world, "2026-11-15T12:00:05+00:00")
    database.disconnect()
    return clock


@pytest.fixture
def allowed(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Say how many calls this installation allows."""

    def say(**variables: int) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, str(value))
        settings.settings.cache_clear()
        authenticate.forget()

    return say


def cap(world: World, tenant: Any = TENANT, **caps: Any) -> None:
    world.admin.execute(
        "UPDATE tenants SET settings = jsonb_build_object('caps', %s::jsonb) WHERE id = %s",
        [Jsonb(caps), tenant],
    )
    authenticate.forget()


def statuses(api: Api, count: int, path: str = TYPES, **options: Any) -> list[int]:
    return [api.get(path, **options).status for _ in range(count)]


def another_environment() -> None:
    """One that knows nothing yet of what others were asked."""
    rate_limits._calls.clear()


def counted(world: World) -> list[tuple[str, str, int]]:
    rows = world.rows("SELECT * FROM rate_limits ORDER BY subject")
    return [(row["subject"].partition(":")[0], row["limit_type"], row["request_count"]) for row in rows]


def test_above_the_limit_every_call_of_the_key_is_429_with_the_time_to_wait(
    world: World, api: Api, allowed: Callable[..., None]
) -> None:
    allowed(API_CALLS_PER_MINUTE=10)

    let_in = [*statuses(api, 9), api.send().status]
    refused = api.get(TYPES)

    assert let_in == [200] * 9 + [422]
    assert_problem(refused, 429, "rate-limited")
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.headers["RateLimit-Policy"] == '"api";q=10;w=60'
    assert refused.headers["RateLimit"].startswith('"api";r=0;t=')
    assert refused.json["detail"].startswith("This key may make 10 calls a minute.")
    assert [api.send().status, api.get("/v1/notifications").status, api.put(f"{TYPES}/t", {}).status] == [429] * 3
    assert (world.count("records"), world.count("notification_types")) == (0, 0)


def test_another_key_may_still_call_and_so_may_who_has_none(world: World, api: Api, allowed: Callable[..., None]) -> None:
    allowed(API_CALLS_PER_MINUTE=10)
    statuses(api, 10)

    assert statuses(Api(world.add_key(*SCOPES)), 10) == [200] * 10
    assert api.get("/health", key="").status == 200
    assert api.get(TYPES, key="").status == 401
    assert api.get(TYPES).status == 429


def test_what_the_scope_forbids_counts_as_well(world: World, api: Api, allowed: Callable[..., None]) -> None:
    allowed(API_CALLS_PER_MINUTE=10)
    sender = Api(world.add_key("send"))

    assert statuses(sender, 11) == [403] * 10 + [429]


def test_the_next_minute_begins_anew(world: World, api: Api, clock: Clock, allowed: Callable[..., None]) -> None:
    allowed(API_CALLS_PER_MINUTE=10)
    assert statuses(api, 11)[-1] == 429

    clock.minute += 1
    set_clock(world, "2026-11-15T12:01:05+00:00")
    database.disconnect()

    assert statuses(api, 11) == [200] * 10 + [429]


def test_two_environments_know_of_each_others_calls(world: World, api: Api, allowed: Callable[..., None]) -> None:
    allowed(API_CALLS_PER_MINUTE=10)

    first = statuses(api, 6)
    another_environment()
    second = statuses(api, 6)

    assert first + second == [200] * 10 + [429] * 2


def test_an_environment_tells_of_its_calls_by_hundredths_of_the_limit(
    world: World, api: Api, allowed: Callable[..., None]
) -> None:
    allowed(API_CALLS_PER_MINUTE=1000)

    statuses(api, 9)
    before = counted(world)
    statuses(api, 1)

    assert (before, counted(world)) == ([], [("key", "api", 10)])


def test_it_is_at_most_a_hundredth_above_the_limit_for_each_environment(
    world: World, api: Api, allowed: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed(API_CALLS_PER_MINUTE=200)
    environments: list[dict[str, Any]] = [{} for _ in range(5)]
    let_in = 0
    for n in range(300):
        monkeypatch.setattr(rate_limits, "_calls", environments[n % 5])
        let_in += api.get(TYPES).status == 200

    assert 200 <= let_in <= 200 + 5 * 2


def test_a_flood_costs_no_statement(world: World, api: Api, allowed: Callable[..., None]) -> None:
    allowed(API_CALLS_PER_MINUTE=10)
    statuses(api, 11)

    assert statuses(api, 20) == [429] * 20
    assert counted(world) == [("key", "api", 10)]


def test_a_key_that_may_send_more_may_call_twice_as_often(world: World, api: Api, allowed: Callable[..., None]) -> None:
    allowed(API_CALLS_PER_MINUTE=10)
    made = api.post("/v1/api-keys", {"name": "fast", "producer": "shop", "scopes": ["manage"], "rate_limit": 8})

    assert statuses(Api(made.json["key"]), 17) == [200] * 16 + [429]


def test_a_tenants_cap_holds_for_its_keys_whatever_they_may_send(world: World, api: Api, allowed: Callable[..., None]) -> None:
    allowed()
    made = api.post("/v1/api-keys", {"name": "fast", "producer": "shop", "scopes": ["manage"], "rate_limit": 8})
    world.add_tenant()
    other = Api(world.add_key(*SCOPES, tenant=OTHER_TENANT))
    cap(world, api_calls_per_minute=3)

    assert statuses(Api(made.json["key"]), 4) == [200] * 3 + [429]
    assert statuses(other, 4) == [200] * 4


@pytest.mark.parametrize(
    ("own", "tenants", "holds"), [(None, None, 6), (None, 3, 3), (5, None, 5), (5, 3, 3), (2, 3, 2), (None, "many", 6)]
)
def test_a_tenants_cap_of_intents_stands_above_the_usual_limit_and_the_keys_own(
    own: int | None, tenants: Any, holds: int, world: World, api: Api, allowed: Callable[..., None]
) -> None:
    allowed(RATE_LIMIT_PER_MINUTE=6)
    world.add_user()
    made = api.post("/v1/api-keys", {"name": "a", "producer": "shop", "scopes": ["send"], "rate_limit": own})
    cap(world, **({"intents_per_minute": tenants} if tenants else {}))

    answer = Api(made.json["key"]).send()

    assert (answer.status, answer.headers["RateLimit-Policy"]) == (202, f'"intents";q={holds};w=60')


@pytest.mark.parametrize("nonsense", [0, -1, 1e30, "12", None, [], {}, True])
def test_a_cap_that_makes_no_sense_does_not_count(nonsense: Any, world: World, api: Api, allowed: Callable[..., None]) -> None:
    allowed()
    cap(world, api_calls_per_minute=nonsense)

    assert statuses(api, 3) == [200] * 3


def test_a_persons_browser_is_limited_and_another_persons_is_not(
    world: World, browser_of: Callable[[str], Reader], allowed: Callable[..., None]
) -> None:
    world.add_user()
    world.add_user("bob")
    alice, bob = browser_of("alice"), browser_of("bob")
    allowed(USER_CALLS_PER_MINUTE=10)

    answers = [alice.get("/v1/inbox/unread-count") for _ in range(11)]

    assert [answer.status for answer in answers] == [200] * 10 + [429]
    assert_problem(answers[-1], 429, "rate-limited")
    assert answers[-1].json["detail"].startswith("This user may make 10 calls a minute.")
    assert [alice.get().status, alice.get("/v1/inbox/preferences").status, alice.get("/v1/inbox/live", wait=1).status] == [
        429
    ] * 3
    assert bob.get().status == 200
    assert ("user", "api", 10) in counted(world)


def test_a_new_token_does_not_begin_anew_and_a_servers_key_is_not_held_up(
    world: World, api: Api, browser_of: Callable[[str], Reader], allowed: Callable[..., None]
) -> None:
    world.add_user()
    allowed(USER_CALLS_PER_MINUTE=10)
    first, second = browser_of("alice"), browser_of("alice")

    answers = [one.get("/v1/inbox/unread-count").status for one in [first] * 6 + [second] * 6]

    assert answers == [200] * 10 + [429] * 2
    assert Reader(api, "alice").get("/v1/inbox/unread-count").status == 200


def test_a_quiet_caller_leaves_nothing_behind(world: World, browser_of: Callable[[str], Reader]) -> None:
    world.add_user()

    assert [browser_of("alice").get("/v1/inbox/unread-count").status for _ in range(3)] == [200] * 3

    assert world.count("rate_limits") == 0


def test_who_holds_a_key_sees_the_settings_of_its_own_tenant_alone(world: World) -> None:
    world.add_tenant()
    hashed = key_format.digest(world.add_key("send", tenant=OTHER_TENANT))

    with database.key_transaction(world.app, hashed):
        seen = world.app.execute("SELECT id FROM tenants").fetchall()
    with database.key_transaction(world.app, bytes(32)):
        unknown = world.app.execute("SELECT id FROM tenants").fetchall()

    assert (seen, unknown) == ([(OTHER_TENANT,)], [])
