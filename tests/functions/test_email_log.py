"""What a person was sent lately, by HTTP: for whoever looks into a cap, a storm or a complaint."""

from datetime import timedelta

from tests.functions.doors import Api
from tests.world import OTHER_TENANT, World

LOG = "/v1/email-log"


def _told(world: World, times: int, **intent: object) -> None:
    for _ in range(times):
        world.accept(**intent)
        world.dispatch()
        world.pass_time(timedelta(minutes=11))


def test_the_log_names_what_was_sent_about_what_when_and_the_providers_id_of_it(world: World, api: Api) -> None:
    world.add_user()
    asked = world.accept(thread={"kind": "order", "id": "7"})
    world.dispatch()

    (row,) = api.get(LOG, query={"user_id": "alice"}).json["data"]

    assert row.pop("sent_at")
    assert row == {
        "user_id": "alice",
        "notification_id": str(asked.notification_id),
        "route_id": world.route()["route_id"],
        "channel": "email",
        "generation": 1,
        "type": "order.shipped",
        "message_id": "m-1",
        "thread": {"kind": "order", "id": "7"},
    }


def test_it_is_of_one_person_and_one_channel_the_newest_first_page_by_page(world: World, api: Api) -> None:
    world.add_user(phone="+14155550100")
    world.add_user("bob")
    _told(world, 3)
    world.accept(audience={"kind": "users", "user_ids": ["bob"]})
    world.dispatch()

    first = api.get(LOG, query={"user_id": "alice", "limit": "2"}).json
    second = api.get(LOG, query={"user_id": "alice", "limit": "2", "cursor": first["next_cursor"]}).json

    times = [row["sent_at"] for row in first["data"] + second["data"]]
    assert len(times) == 3
    assert times == sorted(times, reverse=True)
    assert second["next_cursor"] is None
    assert api.get(LOG, query={"user_id": "alice", "channel": "sms"}).json["data"] == []


def test_what_goes_to_several_devices_at_one_moment_is_all_there(world: World, api: Api) -> None:
    user_id = world.add_user()
    for number in range(3):
        world.add_device(user_id, f"device-{number}")
    cap = {"enabled": True, "frequency_cap": 100}
    assert api.put("/v1/inbox/preferences/push", cap, query={"user_id": "alice"}).status == 200
    world.accept(channels=["push"])
    world.dispatch()

    seen: list[str] = []
    query = {"user_id": "alice", "channel": "push", "limit": "1"}
    while True:
        page = api.get(LOG, query=query).json
        seen += [row["route_id"] for row in page["data"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]

    assert sorted(seen) == sorted(route["route_id"] for route in world.routes())


def test_nobody_reads_it_without_saying_whose_or_of_another_tenant_or_without_the_scope(world: World, api: Api) -> None:
    world.add_user()
    _told(world, 1)
    other = Api(world.add_key("operate", tenant=world.add_tenant(OTHER_TENANT)))

    assert api.get(LOG).status == 422
    assert api.get(LOG, query={"user_id": "alice", "channel": "fax"}).status == 422
    assert api.get(LOG, query={"user_id": "nobody"}).status == 404
    assert other.get(LOG, query={"user_id": "alice"}).status == 404
    assert Api(world.add_key("read")).get(LOG, query={"user_id": "alice"}).status == 403
