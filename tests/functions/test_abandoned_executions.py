"""Abandoned executions by HTTP: which, since when, and one of them."""

import pytest

from tests.functions.doors import Api
from tests.operators import abandon
from tests.world import OTHER_TENANT, World

PATH = "/v1/abandoned-executions"


def test_every_column_is_shown(world: World, api: Api) -> None:
    execution_id = abandon(world)

    shown = api.get(f"{PATH}/{execution_id}").json

    columns = {row["name"] for row in world.rows(
        "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'abandoned_executions'"
    )}  # fmt: skip
    assert set(shown) == columns - {"tenant_id"}
    assert api.get(PATH).json["data"] == [shown]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("source_kind=deliver", 1),
        ("source_kind=trigger", 0),
        ("since=2020-01-01T00:00:00Z", 1),
        ("until=2020-01-01T00:00:00Z", 0),
    ],
)
def test_filters_say_which(world: World, api: Api, query: str, count: int) -> None:
    abandon(world)

    assert len(api.get(PATH, query=query).json["data"]) == count


def test_another_tenants_is_not_found(world: World, api: Api) -> None:
    world.add_tenant()
    theirs = abandon(world, tenant=OTHER_TENANT)

    assert api.get(PATH).json["data"] == []
    assert api.get(f"{PATH}/{theirs}").status == 404
    assert api.get(f"{PATH}/nonsense").status == 404
