"""Registering triggers beside rivals: the bound is exact, and a handler lives exactly as long as somebody has it."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from tests.triggers import INTENT, add_handler, add_trigger
from tests.world import TENANT, World
from tocsin.access.audit import Actor
from tocsin.access.authenticate import Principal
from tocsin.foundation import settings
from tocsin.triggers import register
from tocsin.triggers.handler_configs import UnusableTrigger
from tocsin.triggers.register import NewTrigger, Registered, TooManyTriggers

ACTOR = Actor(TENANT, "key:test")
ANY = {"collection_glob": "*"}
NEW = NewTrigger("kv", ANY, handler_kind="intent", handler={"intent": INTENT})


@pytest.fixture
def principal(world: World) -> Principal:
    world.add_key("manage", "send", "data", "operate")
    return Principal(
        world.one("SELECT id FROM api_keys"), TENANT, "shop", "live", frozenset({"manage", "send", "data", "operate"}), None
    )


def test_of_rivals_for_the_last_places_exactly_as_many_are_registered_as_fit(
    world: World, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIGGERS_PER_TENANT", "5")
    settings.settings.cache_clear()
    conns = [world.connect("tocsin_app") for _ in range(12)]

    def attempt(n: int) -> Registered | None:
        try:
            return register.register(conns[n], ACTOR, principal, NEW)
        except TooManyTriggers:
            return None

    with ThreadPoolExecutor(12) as pool:
        made = [one for one in pool.map(attempt, range(12)) if one]

    assert len(made) == world.count("triggers") == world.count("trigger_handlers") == world.count("kv_trigger_details") == 5


def test_two_who_delete_the_last_triggers_of_a_handler_leave_no_orphan(world: World) -> None:
    for _ in range(5):
        handler_id = add_handler(world)
        ids = [add_trigger(world, handler=handler_id) for _ in range(4)]
        conns = [world.connect("tocsin_app") for _ in ids]

        with ThreadPoolExecutor(len(ids)) as pool:
            gone = list(pool.map(lambda pair: register.remove(pair[0], ACTOR, pair[1]), zip(conns, ids, strict=True)))

        assert gone == [True] * len(ids)
        assert world.count("trigger_handlers") == 0


def test_who_wants_to_share_a_handler_that_goes_meanwhile_is_told_so_or_keeps_it(world: World, principal: Principal) -> None:
    for _ in range(5):
        handler_id = add_handler(world)
        last = add_trigger(world, handler=handler_id)
        one, other = world.connect("tocsin_app"), world.connect("tocsin_app")

        def share(handler_id: UUID = handler_id, conn: object = one) -> Registered | None:
            try:
                return register.register(conn, ACTOR, principal, NewTrigger("kv", ANY, handler_id=handler_id))  # type: ignore[arg-type]
            except UnusableTrigger:
                return None

        with ThreadPoolExecutor(2) as pool:
            shared, removed = pool.submit(share), pool.submit(register.remove, other, ACTOR, last)

        made = shared.result()
        assert removed.result()
        assert world.count("trigger_handlers") == (1 if made else 0)
        if made:
            register.remove(one, ACTOR, made.trigger.id)
