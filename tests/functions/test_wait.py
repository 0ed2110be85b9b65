"""POST /v1/intents/wait: one attempt, and its outcome in the answer. The clock is ours, so nobody really waits."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.functions.doors import Answer, Api, Context, handler_of, intent
from tests.functions.test_live import Clock
from tests.functions.test_problems import assert_problem
from tests.recipients import prefer as prefer_channel
from tests.recipients import set_clock
from tests.world import World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation import database
from tocsin.http import prefer
from tocsin.intake import wait

TRANSIENT = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "try again")
PATH = "/v1/intents/wait"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(wait, "time", clock)
    return clock


@pytest.fixture
def alice(world: World) -> None:
    world.add_user("alice", phone="+4915112345678")


def send(api: Api, body: Any = None, *, said: str | None = "wait=5", key: str | None = None, path: str = PATH) -> Answer:
    headers = {"idempotency-key": key or str(uuid4())} | ({"prefer": said} if said is not None else {})
    return api.post(path, intent() if body is None else body, headers=headers)


def served(world: World, clock: Clock, at: int = 1) -> None:
    """Workers come during that nap."""
    clock.happen = lambda nap: world.dispatch() if nap == at else None


def test_the_answer_has_the_outcome_of_every_route(world: World, api: Api, clock: Clock, alice: None) -> None:
    served(world, clock, at=3)

    answer = send(api, intent(channels=["email", "in_app", "push"]))

    assert (answer.status, clock.naps, answer.json["status"]) == (200, 3, "finished")
    assert answer.headers["Preference-Applied"] == "wait=5"
    assert "Idempotency-Replayed" not in answer.headers
    routes = {route["channel"]: (route["status"], route["reason"], route["attempt_count"]) for route in answer.json["routes"]}
    assert routes == {"email": ("published", "", 1), "in_app": ("published", "", 0), "push": ("skipped", "no_address", 0)}
    shown = api.get(f"/v1/notifications/{answer.json['notification_id']}").json
    assert answer.json["routes"] == shown["routes"]
    assert (world.count("reply_inboxes"), world.count("abandoned_executions"), world.count("outbox")) == (0, 0, 0)


def test_when_the_time_is_over_it_is_202_with_the_id(world: World, api: Api, clock: Clock, alice: None) -> None:
    answer = send(api, said="wait=7")

    assert answer.status == 202
    assert answer.json.keys() == {"notification_id", "status", "accepted_at"}
    assert (answer.json["status"], answer.headers["Preference-Applied"]) == ("accepted", "wait=7")
    assert clock.waited == pytest.approx(7)
    assert world.count("reply_inboxes") == 0

    world.dispatch()

    (late,) = api.get("/v1/abandoned-executions").json["data"]
    assert (late["notification_id"], late["source_kind"]) == (answer.json["notification_id"], "deliver")
    assert late["outcome"]["status"] == "published"


def test_looks_are_frequent_at_first_and_twice_a_second_later(world: World, api: Api, clock: Clock, alice: None) -> None:
    moments: list[float] = []
    clock.happen = lambda nap: moments.append(clock.waited)

    send(api, said="wait=20")

    pauses = [after - before for before, after in zip([0.0, *moments], moments, strict=False)]
    assert pauses[0] == pytest.approx(wait.FIRST_PAUSE)
    assert max(pauses) == pytest.approx(wait.LONGEST_PAUSE)
    assert len(pauses) < 50


def test_a_transient_failure_is_the_outcome_and_is_not_tried_again(world: World, api: Api, clock: Clock, alice: None) -> None:
    world.email.answers.append(TRANSIENT)
    served(world, clock)

    answer = send(api)

    (route,) = answer.json["routes"]
    assert (answer.status, route["status"], route["reason"]) == (200, "dead_letter", "no_retry")
    assert "not tried again" in route["dead_letter"]["recovery_hint"]
    assert route["last_error"]["message"] == "ServiceUnavailable: try again"
    world.pass_time(timedelta(hours=2))
    assert world.dispatch() == 0
    assert world.email.calls == 1


def test_a_deferral_is_told_and_the_delivery_goes_on_by_itself(world: World, api: Api, clock: Clock) -> None:
    set_clock(world, "2026-11-15T23:00:00+00:00")
    prefer_channel(world, world.add_user(), quiet="22:00-07:00")
    served(world, clock)

    answer = send(api)

    (route,) = answer.json["routes"]
    assert (answer.status, answer.json["status"]) == (200, "in_progress")
    assert (route["status"], route["reason"]) == ("pending", "quiet_hours")
    assert route["next_attempt_at"].startswith("2026-11-16T07:00:")
    assert world.one("SELECT reply_to FROM outbox") is None

    world.email.answers.append(TRANSIENT)  # an ordinary delivery from now on, with its retries
    for _ in range(2):
        world.pass_time(timedelta(hours=9))
        world.dispatch()

    assert (world.route()["status"], world.email.calls) == ("published", 2)
    assert world.count("abandoned_executions") == 0


def test_a_plan_that_is_given_up_is_told(world: World, api: Api, clock: Clock, alice: None) -> None:
    def poison(nap: int) -> None:
        if nap == 1:
            world.admin.execute("UPDATE outbox SET claim_count = 3")
            world.dispatch()

    clock.happen = poison

    answer = send(api)

    assert (answer.status, answer.json["status"], answer.json["reason"], answer.json["routes"]) == (
        200,
        "dead_letter",
        "poison",
        [],
    )


def test_a_repetition_waits_for_the_outcome_of_the_first(world: World, api: Api, clock: Clock, alice: None) -> None:
    first = send(api, key="k", said="wait=1")
    served(world, clock, at=clock.naps + 2)

    again = send(api, key="k")

    assert (first.status, again.status) == (202, 200)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json["notification_id"] == first.json["notification_id"]
    assert [route["status"] for route in again.json["routes"]] == ["published"]
    assert (world.email.calls, world.count("reply_inboxes"), world.count("abandoned_executions")) == (1, 0, 0)
    at_once = send(api, key="k")
    assert (at_once.status, at_once.json["routes"]) == (200, again.json["routes"])


def test_a_repetition_of_what_was_sent_without_waiting_learns_its_first_outcome(
    world: World, api: Api, clock: Clock, alice: None
) -> None:
    world.email.answers.append(TRANSIENT)
    first = api.send(idempotency_key="k")
    served(world, clock)

    again = send(api, key="k")

    (route,) = again.json["routes"]
    assert (first.status, again.status, again.json["status"]) == (202, 200, "in_progress")
    assert (route["status"], route["reason"]) == ("failed", "retry")  # it keeps its retries
    assert world.count("reply_inboxes") == 0


def test_what_was_sent_with_a_wish_to_wait_is_not_retried_when_it_is_repeated_without(
    world: World, api: Api, clock: Clock, alice: None
) -> None:
    first = send(api, key="k", said="wait=1")

    again = api.send(idempotency_key="k")

    assert (again.status, again.json["notification_id"]) == (202, first.json["notification_id"])
    assert again.headers["Idempotency-Replayed"] == "true"


def test_another_body_with_the_same_key_is_refused_at_once(world: World, api: Api, clock: Clock, alice: None) -> None:
    send(api, key="k", said="wait=1")
    naps = clock.naps

    assert_problem(send(api, intent(type="other"), key="k"), 422, "idempotency-key-reused")
    assert clock.naps == naps


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"send_at": (datetime.now(UTC) + timedelta(hours=1)).isoformat()}, "/send_at"),
        ({"audience": {"kind": "tenant"}}, "/audience/kind"),
        ({"audience": {"kind": "scope", "scope": "s"}}, "/audience/kind"),
        ({"audience": {"kind": "thread", "thread": {"kind": "order", "id": "1"}}}, "/audience/kind"),
    ],
    ids=["later", "everyone", "a scope", "a thread"],
)
def test_what_cannot_end_in_time_is_422(world: World, api: Api, clock: Clock, body: dict[str, Any], pointer: str) -> None:
    answer = send(api, intent(**body))

    assert_problem(answer, 422, "invalid-request")
    assert [error["pointer"] for error in answer.json["errors"]] == [pointer]
    assert (world.count("records"), world.count("reply_inboxes"), clock.naps) == (0, 0, 0)


@pytest.mark.parametrize("refused", [{"audience": {"kind": "users", "user_ids": ["nobody"]}}, {"payload": {}}, {"template": "x"}])
def test_what_is_refused_leaves_no_mailbox(world: World, api: Api, clock: Clock, alice: None, refused: dict[str, Any]) -> None:
    assert send(api, intent(**refused)).status == 422
    assert (world.count("reply_inboxes"), clock.naps) == (0, 0)


BAD_WAITS = ["wait=0", "wait=-1", "wait", "wait=", "wait=x", "wait=1.5", "wait=٣", 'wait="', "wait=5 6", "respond-async, wait=+1"]


@pytest.mark.parametrize("path", ["/v1/intents", PATH])
@pytest.mark.parametrize("said", BAD_WAITS)
def test_a_wait_of_no_sense_is_400_and_names_the_header(world: World, api: Api, clock: Clock, path: str, said: str) -> None:
    answer = send(api, said=said, path=path)

    assert_problem(answer, 400, "prefer-invalid")
    assert answer.json["errors"][0]["pointer"] == "Prefer"
    assert world.count("records") == 0


def test_where_one_waits_one_says_how_long(world: World, api: Api) -> None:
    assert_problem(send(api, said=None), 400, "prefer-wait-required")
    assert_problem(send(api, said="respond-async"), 400, "prefer-wait-required")
    assert world.count("records") == 0


def test_a_longer_wait_than_there_is_is_shortened_and_says_so(world: World, api: Api, clock: Clock, alice: None) -> None:
    answer = send(api, said="respond-async, wait=300")

    assert (answer.status, answer.headers["Preference-Applied"]) == (202, "wait=20")
    assert clock.waited == pytest.approx(prefer.LONGEST_WAIT)


def test_who_prefers_to_wait_is_sent_to_where_one_waits(world: World, api: Api, alice: None) -> None:
    answer = send(api, said="respond-async; x=1, wait=5", path="/v1/intents")

    assert (answer.status, answer.headers["Location"]) == (307, PATH)
    assert world.count("records") == 0


def test_whoever_prefers_something_else_is_answered_as_ever(world: World, api: Api, alice: None) -> None:
    answer = send(api, said='respond-async, note="wait=5"', path="/v1/intents")

    assert (answer.status, "Preference-Applied" in answer.headers) == (202, False)
    assert world.one("SELECT reply_to FROM outbox") is None


def test_the_way_to_the_wait_needs_the_same_scope(world: World) -> None:
    reader = Api(world.add_key("read"))

    assert_problem(send(reader), 403, "forbidden")
    assert_problem(send(reader, path="/v1/intents"), 403, "forbidden")
    assert_problem(send(Api("")), 401, "unauthorized")


def test_it_counts_against_the_same_rate(world: World, api: Api, clock: Clock, alice: None) -> None:
    sent, waited = api.send(), send(api, said="wait=1")

    assert int(waited.headers["RateLimit"].split("r=")[1].split(";")[0]) + 1 == int(
        sent.headers["RateLimit"].split("r=")[1].split(";")[0]
    )


def test_while_it_waits_there_is_no_transaction_and_no_lock(world: World, api: Api, clock: Clock, alice: None) -> None:
    seen: list[tuple[Any, ...]] = []

    def look(nap: int) -> None:
        (state,) = world.rows(
            """SELECT pid, state, xact_start, backend_xid::text, backend_xmin::text FROM pg_stat_activity
               WHERE datname = current_database() AND usename = 'tocsin_app' AND application_name = 'tocsin'"""
        )
        locks = world.one("SELECT count(*) FROM pg_locks WHERE pid = %(pid)s", pid=state.pop("pid"))
        seen.append((*state.values(), locks))

    clock.happen = look

    assert send(api, said="wait=3").status == 202
    assert set(seen) == {("idle", None, None, None, 0)}
    assert len(seen) == clock.naps > 5


def test_a_wait_whose_connection_dies_is_a_202_and_not_started_over(world: World, api: Api, clock: Clock, alice: None) -> None:
    def break_the_connection(nap: int) -> None:
        if nap == 5:
            world.admin.execute(
                """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                   WHERE datname = current_database() AND usename = 'tocsin_app'"""
            )

    clock.happen = break_the_connection

    answer = send(api)

    assert (answer.status, clock.naps) == (202, 5)
    assert world.count("records") == 1
    database.disconnect()


def test_the_mailbox_of_a_caller_who_died_takes_replies_until_it_expires(
    world: World, api: Api, clock: Clock, alice: None
) -> None:
    def die(nap: int) -> None:
        raise SystemExit

    clock.happen = die
    with pytest.raises(SystemExit):
        send(api, said="wait=2")
    assert world.count("reply_inboxes") == 1
    world.pass_time(timedelta(seconds=2) + wait.GRACE + timedelta(seconds=1))

    world.dispatch()

    assert world.count("abandoned_executions") == 1


def test_a_function_whose_time_runs_out_first_answers_before_that(world: World, api: Api, clock: Clock, alice: None) -> None:
    handler = handler_of("wait")
    event = {
        "routeKey": f"POST {PATH}",
        "rawPath": PATH,
        "headers": {
            "authorization": f"Bearer {api.key}",
            "content-type": "application/json",
            "idempotency-key": "k",
            "prefer": "wait=20",
        },
        "body": '{"type":"t","audience":{"kind":"users","user_ids":["alice"]},"channels":["email"],"payload":{"title":"x"}}',
        "requestContext": {"requestId": "r", "http": {"method": "POST", "sourceIp": "192.0.2.1"}},
    }

    answer = handler(event, Context(remaining=10_000))

    assert answer["statusCode"] == 202
    assert clock.waited <= 10 - wait.SPARE


def test_a_cancel_is_an_outcome(world: World, api: Api, clock: Clock, alice: None) -> None:
    ours = database._connection

    def cancel(nap: int) -> None:
        nonlocal ours
        if nap == 2:  # by another function, with a connection of its own
            ours, database._connection = database._connection, None
            assert api.post(f"/v1/notifications/{world.one('SELECT notification_id FROM records')}/cancel").status == 200
            world.dispatch()
            database.disconnect()
            database._connection = ours

    clock.happen = cancel

    answer = send(api)

    assert (answer.status, [route["status"] for route in answer.json["routes"]]) == (200, ["cancelled"])
    assert world.email.calls == 0


def test_a_test_keys_wait_ends_in_the_sandbox(world: World, clock: Clock, alice: None) -> None:
    tester = Api(world.add_key("send", mode="test"))
    served(world, clock)

    answer = send(tester)

    assert [(route["status"], route["provider"]) for route in answer.json["routes"]] == [("published", "sandbox")]


def test_a_wait_for_an_intent_that_is_a_test_ends_in_the_sandbox(world: World, api: Api, clock: Clock, alice: None) -> None:
    served(world, clock)

    answer = send(api, intent(mode="test"))
    refused = send(Api(world.add_key("send", mode="test")), intent(mode="live"))

    assert [(route["status"], route["provider"]) for route in answer.json["routes"]] == [("published", "sandbox")]
    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, "/mode")


def test_abandoned_executions_are_paged_and_found_by_notification(world: World, api: Api, clock: Clock, alice: None) -> None:
    ids = [send(api, said="wait=1").json["notification_id"] for _ in range(3)]
    for one in ids:
        world.pass_time(timedelta(seconds=1))
        world.admin.execute("UPDATE outbox SET due_at = 'infinity' WHERE id <> %s", [one])
        world.admin.execute("UPDATE outbox SET due_at = tocsin_now() WHERE id = %s", [one])
        world.dispatch()

    first = api.get("/v1/abandoned-executions", query={"limit": "2"}).json
    second = api.get("/v1/abandoned-executions", query={"limit": "2", "cursor": first["next_cursor"]}).json
    found = api.get("/v1/abandoned-executions", query={"notification_id": ids[1]}).json["data"]

    assert [row["notification_id"] for row in first["data"] + second["data"]] == ids[::-1]
    assert second["next_cursor"] is None
    assert [row["notification_id"] for row in found] == [ids[1]]
    assert_problem(api.get("/v1/abandoned-executions", query={"notification_id": "x"}), 422, "invalid-request")
    assert_problem(Api(world.add_key("read")).get("/v1/abandoned-executions"), 403, "forbidden")
