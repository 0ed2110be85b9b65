"""A column that carries nothing is missed by a test that looks at what it says, and by no other: so dead ones are found."""

import psycopg
import pytest

from tests.without import PLACEBO, NoMoreConstants, Thing, constants, make_useless
from tests.world import TENANT, World
from tools import seeds
from tools.seeds import Pair

LOOKS = "tests/functions/test_users.py::test_a_new_user_is_made_known_and_shown_by_the_producers_own_id"
PLANS = "tests/integration/test_plan.py::test_listed_users_get_a_route_for_each_channel"


def test_of_a_live_and_a_dead_column_the_live_one_is_noticed() -> None:
    """`tokens_at` of a provider is nothing to whoever shows a user: that is what a dead column looks like. Two people of one name
    are refused by the database, which tells nothing about who would have read it."""
    answers = seeds.run(
        [
            Pair(LOOKS, "users.username"),
            Pair(LOOKS, "users_external_id_idx"),
            Pair(LOOKS, "provider_configs.tokens_at"),
            Pair(LOOKS, f"users.{PLACEBO}"),
            Pair(PLANS, "users.external_id"),
        ]
    )

    assert [answer.end for answer in answers] == ["noticed", "noticed", "survived", "survived", "inconclusive"]


def test_whatever_is_written_a_constant_arrives_also_from_a_replica(breakable_world: World) -> None:
    make_useless(breakable_world.admin, Thing("users.locale"))
    insert = "INSERT INTO users (id, tenant_id, external_id, locale) VALUES (gen_random_uuid(), %s, %s, 'de')"

    breakable_world.admin.execute(insert, [TENANT, "a"])
    breakable_world.admin.execute("SET session_replication_role = replica")
    breakable_world.admin.execute(insert, [TENANT, "b"])
    breakable_world.admin.execute("UPDATE users SET locale = 'fr'")

    assert breakable_world.rows("SELECT DISTINCT locale FROM users") == [{"locale": None}]


def test_what_forbids_the_constant_is_taken_away(breakable_world: World) -> None:
    make_useless(breakable_world.admin, Thing("devices.platform"))
    user_id = breakable_world.add_user()

    breakable_world.add_device(user_id)

    assert breakable_world.one("SELECT platform FROM devices") == ""


@pytest.mark.parametrize("name", ["users.id", "users.tenant_id", "notifications.box", "webhook_deliveries.delivered"])
def test_what_cannot_be_a_constant_is_renamed(breakable_world: World, name: str) -> None:
    make_useless(breakable_world.admin, Thing(name))
    table, column = name.split(".")

    with pytest.raises(psycopg.errors.UndefinedColumn):
        breakable_world.rows(f"SELECT {table}.{column} FROM {table}")


def test_an_index_and_a_constraint_are_dropped(breakable_world: World) -> None:
    for name in ("users_username_idx", "routes_status_check", "users_pkey"):
        make_useless(breakable_world.admin, Thing(name))

    left = breakable_world.rows("SELECT conname FROM pg_constraint WHERE conname IN ('routes_status_check', 'users_pkey')")
    assert left == breakable_world.rows("SELECT FROM pg_indexes WHERE indexname = 'users_username_idx'") == []


def test_what_is_not_there_is_said_and_so_is_the_end_of_all_constants(breakable_world: World) -> None:
    with pytest.raises(LookupError, match=r"users\.colour"):
        make_useless(breakable_world.admin, Thing("users.colour"))
    with pytest.raises(NoMoreConstants):
        make_useless(breakable_world.admin, Thing.parse("users.locale#9"))


def test_a_constant_says_nothing_and_the_plainest_comes_first() -> None:
    assert constants("text", "", is_required=False, allowed=[])[:2] == ["NULL", "''"]
    assert constants("text", "'live'::text", is_required=True, allowed=["'live'::text"])[0] == "'live'::text"
    assert constants("timestamp with time zone", "tocsin_now()", is_required=True, allowed=[])[0] == "'epoch'"
    assert constants("integer", "", is_required=True, allowed=[]) == ["0"]
