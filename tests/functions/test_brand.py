"""The brand by HTTP."""

import pytest

from tests.functions.doors import Api
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.foundation.database import tenant_transaction, worker_transaction
from tocsin.store import brands
from tocsin.store.rows import Brand

WHOLE = {
    "name": "Example Shop",
    "logo_url": "https://cdn.example.com/logo.png",
    "color": "#2456A6",
    "postal_address": "Example Shop Ltd\n1 High Street, London",
    "reply_to": "help@EXAMPLE.com",
    "from_name": "Müller & Söhne",
}


def test_a_brand_is_kept_whole_and_what_is_not_named_is_cleared(api: Api) -> None:
    assert set(api.get("/v1/brand").json.values()) == {None}

    kept = api.put("/v1/brand", WHOLE).json

    assert kept.pop("updated_at")
    assert kept == WHOLE | {"color": "#2456a6", "reply_to": "help@example.com"}
    api.put("/v1/brand", {"name": "Shop"})
    shown = api.get("/v1/brand").json
    assert (shown["name"], shown["logo_url"], shown["from_name"]) == ("Shop", None, None)


def test_what_was_and_what_is_are_in_the_audit_log(world: World, api: Api) -> None:
    api.put("/v1/brand", {"name": "Shop"})
    api.put("/v1/brand", {"name": "Store"})

    first, second = world.rows("SELECT action, resource_id, changes FROM audit_logs WHERE resource_type = 'brand' ORDER BY seq")
    assert (first["action"], first["resource_id"], first["changes"]["old"]) == ("put", str(TENANT), None)
    assert (second["changes"]["old"]["name"], second["changes"]["new"]["name"]) == ("Shop", "Store")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", "x" * 101),
        ("name", "Shop\nBcc: everybody@example.com"),
        ("logo_url", "http://example.com/logo.png"),
        ("logo_url", 'https://example.com/logo.png" onerror='),
        ("color", "red"),
        ("color", "#2456a6;background:url(x)"),
        ("postal_address", " \n "),
        ("reply_to", "Help <help@example.com>"),
        ("from_name", "Shop\r\nBcc: x@example.com"),
    ],
)
def test_what_would_break_a_mail_is_refused_by_its_field(api: Api, name: str, value: str) -> None:
    answer = api.put("/v1/brand", {name: value})

    assert answer.status == 422
    assert [one["pointer"] for one in answer.json["errors"]] == [f"/{name}"]


def test_a_brand_is_its_tenants_alone(world: World, api: Api) -> None:
    world.add_tenant()
    api.put("/v1/brand", WHOLE)
    other = world.add_key("manage", tenant=OTHER_TENANT)

    assert api.get("/v1/brand", key=other).json["name"] is None
    assert api.put("/v1/brand", {"name": "Other"}, key=other).status == 200
    assert api.get("/v1/brand").json["name"] == "Example Shop"
    assert api.put("/v1/brand", {"name": "x"}, key=world.add_key("send")).status == 403


def test_without_a_brand_the_tenants_name_is_the_name(world: World, api: Api) -> None:
    with tenant_transaction(world.app, TENANT):
        assert brands.find(world.app, TENANT) == Brand("")  # it is called `default`, which tells nobody who writes
    world.admin.execute("UPDATE tenants SET name = 'Acme'")
    with tenant_transaction(world.app, TENANT):
        assert brands.find(world.app, TENANT) == Brand("Acme")

    api.put("/v1/brand", {"name": "Shop", "color": "#aa0000"})

    with worker_transaction(world.worker):
        assert brands.find_all(world.worker, [TENANT]) == {TENANT: Brand("Shop", color="#aa0000", from_name="Shop")}
