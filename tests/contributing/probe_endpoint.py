"""What must be so once somebody has followed the chapter on endpoints; copied into their tree as a test."""

from tests.functions.doors import Api
from tests.world import World

PATH = "/v1/holidays/2026-12-26"


def test_a_holiday_takes_the_right_scope(world: World, api: Api) -> None:
    manager, sender = world.add_key("manage"), world.add_key("send", "read", "inbox", "data", "operate", "admin")

    refused = api.put(PATH, {"name": "Boxing Day"}, key=sender)
    kept = api.put(PATH, {"name": "Boxing Day"}, key=manager)
    shown = api.get(PATH, key=manager)

    assert (refused.status, refused.json["type"]) == (403, "/errors#forbidden")
    assert (kept.status, shown.status) == (200, 200)
    assert shown.json == kept.json == {"day": "2026-12-26", "name": "Boxing Day"}


def test_a_holiday_is_its_tenants_own(world: World, api: Api) -> None:
    api.put(PATH, {"name": "Boxing Day"})

    assert api.get(PATH, key=world.add_key("manage", tenant=world.add_tenant())).status == 404


def test_holidays_are_in_the_openapi_document(api: Api) -> None:
    operations = api.get("/v1/openapi.json", key="").json["paths"]["/v1/holidays/{day}"]

    assert set(operations) == {"get", "put"}
    assert operations["put"]["security"] == [{"key": []}]
