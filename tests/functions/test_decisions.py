"""GET /v1/decisions: what was decided lately, over all notifications; whoever reads on from next_since misses nothing."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import Connection

from tests import events
from tests.functions.doors import Api
from tests.letters import bury_delivery, bury_plan
from tests.ses_events import heard
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.delivery import decisions
from tocsin.delivery.decisions import OVERLAP, Wish
from tocsin.feedback.apply import apply_events
from tocsin.foundation.database import tenant_transaction

DOWN = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "down for lunch")
Row = dict[str, Any]


def _ask(api: Api, **query: str) -> Row:
    answer = api.get("/v1/decisions", query=query)
    assert answer.status == 200, answer.text
    found: Row = answer.json
    return found


def _told(api: Api, **query: str) -> list[tuple[str, str]]:
    return [(one["what"], one["reason"]) for one in _ask(api, **query)["data"]]


def _ids(api: Api, **query: str) -> list[str]:
    return [one["id"] for one in _ask(api, **query)["data"]]


def _follow(api: Api, since: str | None, *, seen: dict[str, Row], **query: str) -> str:
    """Read as a follower does: on and on while there is more, dropping what was seen. Returns where to go on."""
    for _ in range(1_000):
        page = _ask(api, **query, **({"since": since} if since else {}))
        for one in page["data"]:
            seen.setdefault(one["id"], one)
        since = page["next_since"]
        if not page["more"]:
            return str(since)
    raise AssertionError("it never ends")


def _insert_late(slow: Connection[Any], world: World) -> None:
    slow.execute(
        """INSERT INTO records (notification_id, tenant_id, notification_type, producer, audience_kind, payload_json,
               idempotency_key, request_fingerprint, occurred_at, accepted_at, updated_at, idempotency_expires_at)
           VALUES (%s, %s, 'late', 'shop', 'users', '{}', 'k', '', tocsin_now(), tocsin_now(), tocsin_now(), tocsin_now())""",
        [world.asked().notification_id, TENANT],
    )
    slow.execute("SELECT 1").fetchone()  # it was carried out


def test_each_decision_is_told_as_in_the_timeline_with_whose_it_is(world: World, api: Api) -> None:
    world.add_user()
    asked = world.accept(channels=["email", "in_app"])
    world.dispatch()

    page = _ask(api)

    detail = api.get(f"/v1/notifications/{asked.notification_id}").json
    steps = [{name: one[name] for name in ("at", "what", "reason", "route_id")} for one in page["data"]]
    assert sorted(steps, key=str) == sorted(detail["timeline"], key=str)
    assert [one["at"] for one in page["data"]] == sorted(one["at"] for one in page["data"])
    accepted, sent = page["data"][0], page["data"][-1]
    assert accepted == {
        "id": accepted["id"],
        "at": detail["accepted_at"],
        "notification_id": str(asked.notification_id),
        "type": "order.shipped",
        "producer": "shop",
        "mode": "live",
        "route_id": None,
        "channel": None,
        "recipient": None,
        "what": "accepted",
        "reason": "by shop",
    }
    assert (sent["what"], sent["reason"], sent["channel"], sent["recipient"]) == (
        "published",
        "accepted by ses",
        "email",
        "user:alice",
    )
    assert (len(set(_ids(api))), page["more"]) == (len(steps), False)


def test_every_kind_of_step_is_among_them(world: World, api: Api) -> None:
    """Also those by which no row of a route is changed: a cancel before the plan, a plan that died, what was done about it."""
    world.add_user()
    world.add_user("bob", email=None)
    world.email.answers.append(DOWN)
    world.accept()
    world.dispatch()
    bury_delivery(world)
    bury_plan(world)
    world.accept(audience={"kind": "users", "user_ids": ["bob"]})
    later = world.accept(send_at=(datetime.now(UTC) + timedelta(days=1)).isoformat())
    assert api.post(f"/v1/notifications/{later.notification_id}/cancel").status in (200, 202)
    world.dispatch()
    letter = world.dead_letters()[0]["id"]
    assert api.post(f"/v1/dead-letters/{letter}/resolve", {"resolution": "ignored", "reason": "seen to"}).status == 200
    published = world.accept()
    world.dispatch()
    (attempt,) = [one for one in world.attempts() if one["notification_id"] == published.notification_id]
    apply_events(world.worker, [heard("delivery", attempt)])

    told = _told(api, limit="200")

    kinds = {what for what, _ in told}
    assert kinds >= {
        *("accepted", "scheduled", "cancel_asked", "planned", "attempt_opened", "attempt_transient", "attempt_permanent"),
        *("attempt_accepted", "waiting", "published", "skipped", "dead_letter", "ignored", "provider_delivery"),
    }
    assert ("skipped", "no_address") in told
    assert [reason for what, reason in told if what == "dead_letter" and reason.startswith("plan")] != []


def test_an_attempt_that_is_under_way_is_told_before_its_answer_is_known(world: World, api: Api) -> None:
    world.add_user()
    seen: list[list[tuple[str, str]]] = []
    world.email.answers.append(lambda _: seen.append(_told(api)) or DOWN)  # type: ignore[func-returns-value]
    world.accept()

    world.dispatch()

    assert seen[0][-1] == ("attempt_opened", "attempt 1 by ses")


def test_what_a_provider_says_is_told_when_it_is_heard_whenever_it_happened(
    world: World, api: Api, later: Callable[[timedelta], None]
) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    occurred = world.attempts()[0]["started_at"]
    later(timedelta(hours=1))
    apply_events(world.worker, [heard("delivery", world.attempts()[0])])

    (one,) = _ask(api)["data"]

    assert one["what"] == "provider_delivery"
    assert datetime.fromisoformat(one["at"]) < occurred + timedelta(minutes=30)


def test_without_since_it_is_the_last_minute(world: World, api: Api, later: Callable[[timedelta], None]) -> None:
    world.add_user()
    world.accept()
    later(timedelta(seconds=50))
    assert [what for what, _ in _told(api)] == ["accepted"]
    later(timedelta(seconds=15))

    assert _told(api) == []


def test_a_day_back_is_read_and_no_further(world: World, api: Api, later: Callable[[timedelta], None]) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    began = world.one("SELECT accepted_at FROM records")
    later(timedelta(hours=23, minutes=59))
    seen: dict[str, Row] = {}

    _follow(api, began.isoformat().replace("+00:00", "Z"), seen=seen)

    assert [one["what"] for one in seen.values()] == ["accepted", "planned", "attempt_opened", "attempt_accepted", "published"]
    long_ago = (began - timedelta(minutes=5)).isoformat().replace("+00:00", "Z")
    answer = api.get("/v1/decisions", query={"since": long_ago})
    assert (answer.status, answer.json["errors"][0]["pointer"]) == (422, "?since")
    assert "24 hours" in answer.json["detail"]


@pytest.mark.parametrize("limit", ["1", "2", "7", "200"])
@pytest.mark.parametrize("rows", [3, 2_000])
def test_page_by_page_everything_is_told_once_in_order(
    world: World, api: Api, later: Callable[[timedelta], None], monkeypatch: pytest.MonkeyPatch, limit: str, rows: int
) -> None:
    """Also where much was decided in one instant, and where a stretch holds too much to be read at once."""
    for n in range(5):
        world.add_user(f"u{n}")
    for _ in range(3):
        world.accept(audience={"kind": "users", "user_ids": [f"u{n}" for n in range(5)]}, channels=["email", "in_app"])
        world.dispatch()
    whole = _ids(api, limit="200")
    since = world.one("SELECT min(accepted_at) FROM records").isoformat().replace("+00:00", "Z")
    later(2 * OVERLAP)
    monkeypatch.setattr(decisions, "_MOST_ROWS", rows)
    seen: dict[str, Row] = {}

    _follow(api, since, seen=seen, limit=limit)

    assert list(seen) == whole
    assert len(whole) == 3 * (1 + 10 + 5 + 3 * 5)


def test_no_more_of_a_table_is_read_at_once_than_a_function_can_hold(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add_user()
    for _ in range(5):
        world.accept()
    monkeypatch.setattr(decisions, "_MOST_ROWS", 3)
    began = world.one("SELECT min(accepted_at) FROM records")

    with tenant_transaction(world.app, TENANT):
        assert decisions._stretch(world.app, TENANT, Wish(), began, began + timedelta(minutes=1)) is None
        assert decisions._stretch(world.app, TENANT, Wish(), began - timedelta(minutes=1), began) == []


def test_what_was_learned_in_one_instant_is_not_parted(world: World, api: Api, later: Callable[[timedelta], None]) -> None:
    people = [f"u{n}" for n in range(5)]
    for name in people:
        world.add_user(name)
    world.accept(audience={"kind": "users", "user_ids": people}, channels=["in_app"])
    world.dispatch()

    later(2 * OVERLAP)
    page = _ask(api, limit="2")

    assert len(page["data"]) == 1 + 10


def test_whoever_follows_sees_also_what_is_committed_late(world: World, api: Api, later: Callable[[timedelta], None]) -> None:
    """A transaction that began before the last look, and ends after it."""
    world.add_user()
    slow = world.connect("tocsin_app")
    seen: dict[str, Row] = {}
    with tenant_transaction(slow, TENANT):
        _insert_late(slow, world)
        world.accept()
        since = _follow(api, None, seen=seen)
        assert [one["type"] for one in seen.values()] == ["order.shipped"]
    later(OVERLAP - timedelta(seconds=3))

    _follow(api, since, seen=seen)

    assert {one["type"] for one in seen.values()} == {"order.shipped", "late"}


@pytest.mark.parametrize("most_young", [1, 1_000])
def test_whoever_follows_in_small_pages_sees_it_too(
    world: World, api: Api, later: Callable[[timedelta], None], monkeypatch: pytest.MonkeyPatch, most_young: int
) -> None:
    """A page that ended between what is here and what is still to come would lead past it."""
    monkeypatch.setattr(decisions, "_MOST_YOUNG", most_young)
    world.add_user()
    slow = world.connect("tocsin_app")
    with tenant_transaction(slow, TENANT):
        _insert_late(slow, world)
        for _ in range(3):
            world.accept()
        page = _ask(api, limit="1")
        seen = {one["id"]: one for one in page["data"]}
        assert (len(seen), page["more"]) == (min(3, most_young), False)
    since = page["next_since"]
    for _ in range(8):
        since = _follow(api, since, seen=seen, limit="1")
        later(timedelta(seconds=2))

    assert sorted(one["type"] for one in seen.values()) == ["late", *["order.shipped"] * 3]


def test_at_the_end_it_goes_back_a_few_seconds_and_not_before_what_was_asked_for(
    world: World, api: Api, later: Callable[[timedelta], None]
) -> None:
    now = world.one("SELECT tocsin_now()")
    just = now - timedelta(seconds=1)

    far, near = _ask(api), _ask(api, since=just.isoformat().replace("+00:00", "Z"))

    assert abs(datetime.fromisoformat(far["next_since"]) - (now - OVERLAP)) < timedelta(seconds=5)
    assert datetime.fromisoformat(near["next_since"]) == just
    assert (far["more"], near["more"]) == (False, False)


def test_a_clock_that_is_ahead_does_not_matter(world: World, api: Api) -> None:
    page = _ask(api, since="2100-01-01T00:00:00Z")

    assert (page["data"], page["more"]) == ([], False)
    assert datetime.fromisoformat(page["next_since"]) < datetime.now(UTC) + timedelta(minutes=1)


def test_an_id_stays_the_same_while_the_rest_goes_on(world: World, api: Api, later: Callable[[timedelta], None]) -> None:
    world.add_user()
    world.email.answers.append(DOWN)
    world.accept(retry={"max_attempts": 3, "backoff": "constant", "base_ms": 1000})
    world.dispatch()
    before = {one["id"]: one["what"] for one in _ask(api)["data"]}
    later(timedelta(seconds=20))
    world.dispatch()

    after = {one["id"]: one["what"] for one in _ask(api)["data"]}

    assert world.route()["status"] == "published"
    assert [what for name, what in before.items() if name not in after] == ["waiting"]  # it does not wait any more


def test_an_event_that_became_messages_is_told_with_its_first_route(
    world: World, api: Api, later: Callable[[timedelta], None]
) -> None:
    """Its record is made when it is fanned out, and says when it was accepted."""
    world.add_user("alice")
    events.route(world, rules={"subscribed": ["email"]})
    events.choose(world, "alice", subscribed=True)
    events.happen(world)
    later(timedelta(minutes=5))
    events.fan_out_all(world)

    assert [what for what, _ in _told(api)][:2] == ["accepted", "planned"]


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"type": "invoice.due"}, {("invoice.due", "email"), ("invoice.due", None)}),
        ({"type": "nothing"}, set()),
        ({"producer": "billing"}, {("order.shipped", None)}),
        ({"channel": "in_app"}, {("order.shipped", "in_app")}),
        ({"user_id": "bob"}, {("order.shipped", "sms")}),
        ({"user_id": "user:bob"}, set()),
        ({"status": "skipped"}, {("order.shipped", "sms")}),
        ({"status": "published", "channel": "email"}, {("invoice.due", "email")}),
        ({"status": "cancelled"}, set()),
        ({"type": "invoice.due", "channel": "in_app"}, set()),
    ],
)
def test_each_filter_keeps_what_it_says(world: World, api: Api, query: dict[str, str], told: set[tuple[str, str]]) -> None:
    world.add_user("alice")
    world.add_user("bob")
    world.accept(type="invoice.due")
    world.accept(channels=["in_app"])
    world.accept(audience={"kind": "users", "user_ids": ["bob"]}, channels=["sms"])
    world.dispatch()
    world.try_accept(world.asked(), producer="billing")

    assert {(one["type"], one["channel"]) for one in _ask(api, **query)["data"]} == told


@pytest.mark.parametrize(
    "query",
    [
        *(
            "since=now",
            "since=2026-11-15",
            "since=2026-11-15T10:00:00",
            "since=",
            "since=%00",
            "since=0001-01-01T00:00:00%2B14:00",
        ),
        *("limit=0", "limit=201", "limit=x", "channel=fax", "status=open", "type=%00", "cursor=x", "since=a&since=b"),
    ],
)
def test_what_means_nothing_is_422(api: Api, query: str) -> None:
    assert api.get("/v1/decisions", query=query).status == 422


@pytest.mark.parametrize(
    "query", ["since=9999-12-31T23:59:59-14:00", "type=%25", "user_id=" + "x" * 3000, "producer='%20OR%201=1"]
)
def test_what_is_strange_finds_nothing(world: World, api: Api, query: str) -> None:
    world.add_user()
    world.accept()
    world.dispatch()

    answer = api.get("/v1/decisions", query=query)

    assert (answer.status, answer.json["data"]) == (200, [])


def test_tenants_never_see_each_others_and_without_read_nobody_sees_any(world: World, api: Api) -> None:
    world.add_tenant()
    world.add_user(tenant=OTHER_TENANT)
    world.accept(tenant=OTHER_TENANT)
    world.dispatch()
    theirs = world.add_key("read", tenant=OTHER_TENANT)

    assert _told(api) == []
    assert len(api.get("/v1/decisions", key=theirs).json["data"]) == 5
    assert api.get("/v1/decisions", key=world.add_key("send", "manage", "operate")).status == 403


def test_a_busy_time_is_read_in_stretches(world: World, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """No further than is needed for the page."""
    world.add_user()
    since = world.one("SELECT tocsin_now() - interval '1 hour'")
    read: list[tuple[datetime, datetime]] = []
    stretch = decisions._stretch

    def watched(conn: Any, tenant: Any, wish: Any, start: datetime, until: datetime) -> Any:
        read.append((start, until))
        return stretch(conn, tenant, wish, start, until)

    monkeypatch.setattr(decisions, "_stretch", watched)
    world.accept()
    world.admin.execute("UPDATE records SET accepted_at = %s", [since + timedelta(seconds=30)])

    page = _ask(api, since=since.isoformat().replace("+00:00", "Z"), limit="1")

    assert [one["what"] for one in page["data"]] == ["accepted"]
    assert (len(read), page["more"], datetime.fromisoformat(page["next_since"])) == (2, True, read[-1][1])
