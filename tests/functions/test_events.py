"""POST /v1/events: CloudEvents in three modes, written by the CloudEvents SDK; and what became of them."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from cloudevents.core.bindings.http import HTTPMessage, to_binary_event, to_structured_event
from cloudevents.core.v1.event import CloudEvent

from tests.crash.waiting import wait_until
from tests.events import fan_out_all, route, told
from tests.functions.doors import Answer, Api, Context, answer_of, handler_of, module_of, sqs_event
from tests.functions.readers import Reader
from tests.functions.test_problems import assert_problem
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.key_format import SCOPES
from tocsin.intake.accept_events import _row
from tocsin.intake.cloud_events import BATCHED, MAX_BATCH, MAX_DATA, STRUCTURED
from tocsin.store.flow import accept_events

DATA: dict[str, Any] = {
    "scope": "repo:7",
    "thread": {"kind": "issue", "id": "7"},
    "actor": "bob",
    "mentions": ["alice"],
    "title": "Bob commented",
    "message": "@alice have a look — très bien",
    "url": "https://example.com/issues/7#c1",
    "labels": ["bug"],
    "issue": {"number": 7},
}


def _event(data: Any = DATA, **attributes: Any) -> CloudEvent:
    """An event as a producer makes it with the SDK."""
    ordinary = {
        "id": "e-1",
        "source": "/repos/7",
        "type": "issue.commented",
        "time": datetime(2026, 11, 15, 10, 0, tzinfo=UTC),
        "datacontenttype": "application/json",
    }
    return CloudEvent(ordinary | attributes, data)


def _send(api: Api, message: HTTPMessage, **options: Any) -> Answer:
    return api.call("POST", "/v1/events", message.body.decode(), headers=message.headers, **options)


def _batched(*events: CloudEvent) -> HTTPMessage:
    return HTTPMessage({"content-type": BATCHED}, b"[" + b",".join(to_structured_event(one).body for one in events) + b"]")


def _written(**changes: Any) -> dict[str, Any]:
    """An event as JSON, for those the SDK would refuse to write."""
    event: dict[str, Any] = json.loads(to_structured_event(_event()).body)
    return {name: value for name, value in (event | changes).items() if value is not ...}


def _post(api: Api, event: Any, content_type: str = STRUCTURED) -> Answer:
    return api.post("/v1/events", event, headers={"content-type": content_type})


MODES: dict[str, Callable[[CloudEvent], HTTPMessage]] = {
    "structured": to_structured_event,
    "binary": to_binary_event,
    "batched": _batched,
}


def _receipt(answer: Answer) -> dict[str, Any]:
    """Of the only event, in whichever mode it was told."""
    body = answer.json
    if "results" in body:
        (result,) = body["results"]
        assert (answer.status, result["status"]) == (200, 202)
        body = result["outcome"]
    else:
        assert answer.status == 202, answer.text
    receipt: dict[str, Any] = body
    return receipt


@pytest.mark.parametrize("mode", MODES)
def test_an_event_is_recorded_before_the_answer_in_every_mode(world: World, api: Api, mode: str) -> None:
    bob = world.add_user("bob")

    answer = _send(
        api,
        MODES[mode](_event(traceparent="00-ignored", partitionkey="7", sampledrate=3)),
        request_id="req-1",
    )

    receipt = _receipt(answer)
    (event,) = world.rows("SELECT * FROM domain_events")
    assert receipt == {
        "source": "/repos/7",
        "event_id": "e-1",
        "notification_id": str(event["notification_id"]),
        "status": "accepted",
        "recorded_at": receipt["recorded_at"],
        "routed": False,
    }
    assert datetime.fromisoformat(receipt["recorded_at"]) == event["recorded_at"]
    assert (event["tenant_id"], event["source"], event["event_id"], event["type"]) == (
        TENANT,
        "/repos/7",
        "e-1",
        "issue.commented",
    )
    assert (event["scope"], event["thread_kind"], event["thread_id"]) == ("repo:7", "issue", "7")
    assert (event["actor_user_id"], event["mode"], event["request_id"]) == (bob, "live", "req-1")
    assert event["occurred_at"] == datetime(2026, 11, 15, 10, 0, tzinfo=UTC)
    assert event["data"] == DATA


def test_header_values_are_percent_decoded_in_binary_mode(world: World, api: Api) -> None:
    message = to_binary_event(_event(id='größe "7" 100%', source="/répos/№ 7", subject="é"))
    assert message.headers["ce-id"] == "gr%C3%B6%C3%9Fe%20%227%22%20100%25"

    receipt = _receipt(_send(api, message))

    assert (receipt["source"], receipt["event_id"]) == ("/répos/№ 7", 'größe "7" 100%')
    assert world.one("SELECT source || ' ' || event_id FROM domain_events") == '/répos/№ 7 größe "7" 100%'


def _raw(api: Api, headers: dict[str, str], body: str | None) -> Answer:
    """With these headers and no other: clients add no Content-Type of their own."""
    event = {
        "routeKey": "POST /v1/events",
        "headers": headers | {"authorization": f"Bearer {api.key}"},
        "requestContext": {"requestId": "r", "http": {"method": "POST"}},
    }
    return answer_of(handler_of("intake")(event | ({"body": body} if body is not None else {}), Context()))


def test_in_binary_mode_data_without_a_content_type_is_json_as_the_sdk_writes_it(world: World, api: Api) -> None:
    message = to_binary_event(CloudEvent({"type": "issue.commented", "source": "/repos/7", "id": "e-1"}, DATA))
    assert "content-type" not in message.headers

    answer = _raw(api, message.headers, message.body.decode())

    assert answer.status == 202, answer.text
    assert world.one("SELECT data FROM domain_events") == DATA


@pytest.mark.parametrize("content_type", [None, "application/json"], ids=["no content type", "a content type"])
def test_an_event_may_have_no_data_in_binary_mode_too(world: World, api: Api, content_type: str | None) -> None:
    attributes = {"type": "deployed", "source": "/ci", "id": "1"} | ({"datacontenttype": content_type} if content_type else {})
    message = to_binary_event(CloudEvent(attributes))

    answer = _raw(api, message.headers, None)

    assert answer.status == 202, answer.text
    assert world.one("SELECT data FROM domain_events") == {}


@pytest.mark.parametrize("data", [{}, None, ...], ids=["empty", "null", "absent"])
def test_an_event_may_have_no_data_in_structured_mode(world: World, api: Api, data: Any) -> None:
    answer = _post(api, _written(data=data))

    assert answer.status == 202, answer.text
    assert world.one("SELECT data FROM domain_events") == {}


@pytest.mark.parametrize("again", MODES)
@pytest.mark.parametrize("first", MODES)
def test_the_same_source_and_id_is_the_same_event_in_whatever_mode_it_is_told_again(
    world: World, api: Api, first: str, again: str
) -> None:
    accepted = _receipt(_send(api, MODES[first](_event())))

    duplicate = _receipt(_send(api, MODES[again](_event({"title": "other words"}, type="other.type"))))

    assert duplicate == accepted | {"status": "duplicate"}
    assert world.one("SELECT data ->> 'title' FROM domain_events") == "Bob commented"


def test_another_source_or_tenant_may_use_the_same_id(world: World, api: Api) -> None:
    world.add_tenant()
    theirs = Api(world.add_key("send", tenant=OTHER_TENANT))

    receipts = [
        _receipt(_send(api, to_structured_event(_event()))),
        _receipt(_send(api, to_structured_event(_event(source="/repos/8")))),
        _receipt(_send(theirs, to_structured_event(_event()))),
    ]

    assert [receipt["status"] for receipt in receipts] == ["accepted"] * 3
    assert len({receipt["notification_id"] for receipt in receipts}) == 3


def test_a_batch_records_each_event_once_in_order(world: World, api: Api) -> None:
    _send(api, to_structured_event(_event(id="known")))
    events = [_event(id=event_id) for event_id in ("a", "known", "b", "a")]

    answer = _send(api, _batched(*events))

    outcomes = [result["outcome"] for result in answer.json["results"]]
    assert [result["status"] for result in answer.json["results"]] == [202] * 4
    assert [(one["event_id"], one["status"]) for one in outcomes] == [
        ("a", "accepted"),
        ("known", "duplicate"),
        ("b", "accepted"),
        ("a", "duplicate"),
    ]
    assert outcomes[0]["notification_id"] == outcomes[3]["notification_id"]
    recorded = [row["event_id"] for row in world.rows("SELECT event_id FROM domain_events ORDER BY id")]
    assert recorded == ["known", "a", "b"]
    assert outcomes[0]["notification_id"] < outcomes[2]["notification_id"]


def test_one_bad_event_does_not_spoil_a_batch(world: World, api: Api) -> None:
    batch = [
        _written(id="1"),
        _written(id="2", specversion="0.3"),
        "nonsense",
        _written(id="4", data={"mentions": "alice"}),
        _written(id="5", data={"text": "x" * MAX_DATA}),
        _written(id="6"),
    ]

    answer = _post(api, batch, BATCHED)

    assert answer.status == 200
    assert [result["status"] for result in answer.json["results"]] == [202, 422, 422, 422, 422, 202]
    problems = [result["problem"] for result in answer.json["results"] if "problem" in result]
    assert [problem["errors"][0]["pointer"] for problem in problems] == ["/specversion", "", "/data/mentions", "/data"]
    assert [row["event_id"] for row in world.rows("SELECT event_id FROM domain_events ORDER BY id")] == ["1", "6"]


def test_a_batch_of_bad_events_only_is_answered_without_a_query(api: Api, world: World) -> None:
    answer = _post(api, [_written(type="")] * 3, BATCHED)

    assert (answer.status, [result["status"] for result in answer.json["results"]]) == (200, [422] * 3)
    assert (world.count("domain_events"), world.count("rate_limits")) == (0, 0)


@pytest.mark.parametrize("body", [{}, [], "x", 7, None, [{}] * (MAX_BATCH + 1)], ids=lambda body: str(body)[:20])
def test_a_batch_is_a_list_of_one_to_five_hundred(world: World, api: Api, body: Any) -> None:
    answer = _post(api, json.dumps(body), BATCHED)

    assert_problem(answer, 422, "invalid-request")


MALFORMED: list[tuple[dict[str, Any], str]] = [
    ({"specversion": "0.3"}, "/specversion"),
    ({"specversion": "2.0"}, "/specversion"),
    ({"specversion": ...}, "/specversion"),
    ({"id": ...}, "/id"),
    ({"source": ...}, "/source"),
    ({"type": ...}, "/type"),
    ({"id": ""}, "/id"),
    ({"type": "x" * 101}, "/type"),
    ({"time": "10 o'clock"}, "/time"),
    ({"data_base64": "e30=", "data": ...}, "/data_base64"),
    ({"datacontenttype": "text/plain"}, "/datacontenttype"),
    ({"datacontenttype": "application/xml"}, "/datacontenttype"),
    ({"data": "text"}, "/data"),
    ({"data": {"text": "x" * MAX_DATA}}, "/data"),
    ({"data": DATA | {"mentions": "alice"}}, "/data/mentions"),
    ({"data": DATA | {"mentions": [{"id": "alice"}]}}, "/data/mentions/0"),
    ({"data": DATA | {"reviewers": [7]}}, "/data/reviewers/0"),
    ({"data": DATA | {"assignees": "bob"}}, "/data/assignees"),
    ({"data": DATA | {"actor": {"id": "bob"}}}, "/data/actor"),
    ({"data": DATA | {"thread": "issue:7"}}, "/data/thread"),
    ({"data": DATA | {"url": "javascript:alert(1)"}}, "/data/url"),
    ({"data": DATA | {"url": "ftp://example.com"}}, "/data/url"),
]


@pytest.mark.parametrize(("changes", "pointer"), MALFORMED, ids=[str(one)[:50] for one, _ in MALFORMED])
def test_a_malformed_event_is_422_and_says_where(world: World, api: Api, changes: dict[str, Any], pointer: str) -> None:
    problem = assert_problem(_post(api, _written(**changes)), 422, "invalid-request")

    assert pointer in {error["pointer"] for error in problem["errors"]}
    assert all(error["message"] for error in problem["errors"])
    assert world.count("domain_events") == 0


@pytest.mark.parametrize("body", ["[]", "7", '"x"', "null"])
def test_what_is_no_object_is_422(world: World, api: Api, body: str) -> None:
    assert_problem(_post(api, body), 422, "invalid-request")


@pytest.mark.parametrize(
    ("header", "value", "pointer"),
    [
        ("ce-specversion", "0.3", "/specversion"),
        ("ce-id", "", "/id"),
        ("ce-type", "x" * 101, "/type"),
        ("ce-time", "yesterday", "/time"),
        ("ce-data_base64", "e30=", "/data_base64"),
        ("ce-source", "", "/source"),
    ],
)
def test_a_malformed_header_in_binary_mode_is_422_and_says_where(
    world: World, api: Api, header: str, value: str, pointer: str
) -> None:
    message = to_binary_event(_event())

    problem = assert_problem(_send(api, HTTPMessage(message.headers | {header: value}, message.body)), 422, "invalid-request")

    assert pointer in {error["pointer"] for error in problem["errors"]}


@pytest.mark.parametrize("header", ["ce-id", "ce-source", "ce-type"])
@pytest.mark.parametrize("value", ["a%00b", "%00"])
def test_a_header_that_decodes_to_nul_is_422(world: World, api: Api, header: str, value: str) -> None:
    message = to_binary_event(_event())

    answer = _send(api, HTTPMessage(message.headers | {header: value}, message.body))

    assert_problem(answer, 422, "invalid-request")


@pytest.mark.parametrize("value", ["%ff", "%C3%28", "%", "%zz", "%ED%A0%80"])
def test_a_header_that_decodes_to_nothing_sensible_is_no_error_of_ours(world: World, api: Api, value: str) -> None:
    message = to_binary_event(_event())

    assert _send(api, HTTPMessage(message.headers | {"ce-subject": value, "ce-id": f"x{value}"}, message.body)).status in (
        202,
        422,
    )


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"content-type": "application/json"}, "{}"),
        ({"content-type": "text/plain"}, "{}"),
        ({"content-type": "application/cloudevents+xml"}, "<event/>"),
        ({"content-type": f"{STRUCTURED}; charset=latin-1"}, "{}"),
        ({"content-type": f"{BATCHED}; charset=utf-16"}, "[]"),
        ({"content-type": "application/octet-stream", "ce-specversion": "1.0"}, "x"),
        ({"content-type": "text/plain", "ce-specversion": "1.0"}, "x"),
    ],
    ids=str,
)
def test_what_is_no_cloud_event_is_415(world: World, api: Api, headers: dict[str, str], body: str) -> None:
    assert_problem(api.call("POST", "/v1/events", body, headers=headers), 415, "unsupported-media-type")


@pytest.mark.parametrize("content_type", [STRUCTURED, BATCHED])
def test_a_body_above_256_kib_is_413(world: World, api: Api, content_type: str) -> None:
    assert_problem(_post(api, "x" * 262_145, content_type), 413, "too-large")


def test_a_large_body_in_binary_mode_is_413_and_large_data_422(world: World, api: Api) -> None:
    headers = to_binary_event(_event()).headers

    assert_problem(_send(api, HTTPMessage(headers, b"x" * 262_145)), 413, "too-large")
    problem = assert_problem(_send(api, to_binary_event(_event({"text": "x" * MAX_DATA}))), 422, "invalid-request")
    assert problem["errors"] == [{"pointer": "/data", "message": f"has more than {MAX_DATA} bytes"}]


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ("{", 400, "invalid-json"),
        ("", 400, "invalid-json"),
        ('{"id": "1", "id": "2"}', 422, "invalid-request"),
        ('{"id": "\\u0000"}', 422, "invalid-request"),
        ('{"data": {"n": NaN}}', 422, "invalid-request"),
        ('{"data": ' + '{"a": ' * 30 + "1" + "}" * 31, 422, "invalid-request"),
    ],
    ids=["cut", "empty", "a key twice", "nul", "nan", "deep"],
)
def test_json_is_read_strictly(world: World, api: Api, body: str, status: int, kind: str) -> None:
    answer = _post(api, body)

    assert (answer.status, answer.json["type"]) in ((status, f"/errors#{kind}"), (400, "/errors#invalid-json"))
    assert world.count("domain_events") == 0


def test_the_answer_says_how_much_of_the_allowance_is_left(world: World, api: Api) -> None:
    world.add_user("alice")
    api.send()

    single = _send(api, to_structured_event(_event()))
    batch = _send(api, _batched(*(_event(id=str(n)) for n in range(10))))

    assert single.headers["RateLimit-Policy"] == '"events";q=6000;w=60'
    assert single.headers["RateLimit"].startswith('"events";r=5999;t=')
    assert batch.headers["RateLimit"].startswith('"events";r=5989;t=')


def test_above_the_rate_limit_is_429_and_nothing_is_stored(world: World, api: Api) -> None:
    world.admin.execute("UPDATE api_keys SET rate_limit = 3")
    too_many = _send(api, _batched(*(_event(id=f"batch {n}") for n in range(4))))
    assert_problem(too_many, 429, "rate-limited")
    assert world.count("domain_events") == 0

    answers = [_send(api, to_structured_event(_event(id=str(n)))) for n in range(8)]

    refused = [answer for answer in answers if answer.status == 429]
    assert refused
    assert world.count("domain_events") == 8 - len(refused)
    for answer in refused:
        assert_problem(answer, 429, "rate-limited")
        assert 1 <= int(answer.headers["Retry-After"]) <= 60
        assert answer.headers["RateLimit-Policy"] == '"events";q=3;w=60'
        assert answer.headers["RateLimit"].startswith('"events";r=0;t=')
    assert _send(api, to_structured_event(_event(id="x")), key=world.add_key("send")).status == 202


def test_the_same_event_in_flight_elsewhere_is_409_and_says_when_to_come_back(world: World, api: Api) -> None:
    holder = world.connect("tocsin_app")
    holder.execute("BEGIN")
    holder.execute("SELECT set_config('tocsin.tenant', %s, true)", [str(TENANT)])
    accept_events.insert_unless_known(
        holder,
        [_row(0, told("e-1", source="/repos/7"))],
        tenant_id=TENANT,
        mode="live",
        request_id="",
        trace_id="",
        rate_subject="rival",
        rate_limit=1_000,
    )

    answer = _send(api, to_structured_event(_event()))

    assert_problem(answer, 409, "event-in-flight")
    assert answer.headers["Retry-After"] == "1"


def test_while_the_database_is_down_it_is_503(api: Api, database_down: None) -> None:
    assert_problem(_send(api, to_structured_event(_event())), 503, "unavailable")


def test_a_new_event_wakes_the_fan_out_and_a_duplicate_wakes_nobody(world: World, api: Api) -> None:
    assert world.work_queue is not None

    for _ in range(2):
        _send(api, to_structured_event(_event()))

    assert [json.loads(body) for body in world.work_queue.bodies()] == [{"v": 1, "ids": [], "fanout": True}]


def _dispatch(world: World, run_as: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the worker take every nudge, also those it sends itself, until there is none."""
    monkeypatch.setattr(module_of("dispatch"), "_ways", lambda: world.worker_policy().ways)
    run_as("tocsin_worker")

    def nothing_is_left() -> bool:
        assert world.work_queue is not None
        bodies = list(world.work_queue.bodies())
        world.work_queue.clear()
        assert handler_of("dispatch")(sqs_event(*bodies), Context()) == {"batchItemFailures": []}
        return not world.work_queue.bodies()

    wait_until(nothing_is_left)
    run_as("tocsin_app")


@pytest.mark.parametrize("mode", MODES)
def test_an_event_told_by_http_reaches_who_cares_through_the_doors(
    world: World, api: Api, run_as: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    for user in ("alice", "bob", "carol", "dave"):
        world.add_user(user)
    api.put("/v1/event-routing/issue.*", {"rules": {"mention": ["in_app", "email"], "watching": ["in_app"]}})
    api.put("/v1/users/carol/watches/repo:7", {"level": "all"})

    receipt = _receipt(_send(api, MODES[mode](_event())))
    _dispatch(world, run_as, monkeypatch)

    assert {user: Reader(api, user).titles() for user in ("alice", "bob", "carol", "dave")} == {
        "alice": ["Bob commented"],
        "bob": [],
        "carol": ["Bob commented"],
        "dave": [],
    }
    assert [message.email for message in world.email.accepted] == ["alice@example.com"]
    shown = api.get(f"/v1/events/{receipt['notification_id']}").json
    assert (shown["outcome"], shown["recipient_count"]) == ("notified", 2)


def test_an_event_of_a_test_key_fills_the_inbox_and_reaches_no_provider(world: World, api: Api) -> None:
    world.add_user("alice")
    route(world, "issue.commented", {"mention": ["in_app", "email"]})

    receipt = _receipt(_send(api, to_structured_event(_event()), key=world.add_key("send", mode="test")))
    fan_out_all(world)
    world.dispatch()

    assert api.get(f"/v1/events/{receipt['notification_id']}").json["mode"] == "test"
    assert (world.route()["status"], world.route()["provider"], world.email.calls) == ("published", "sandbox", 0)
    assert Reader(api, "alice").titles() == ["Bob commented"]


@pytest.mark.parametrize(
    ("rules", "data", "outcome", "recipients"),
    [
        ({"mention": ["in_app"]}, DATA, "notified", 1),
        ({"mention": ["in_app"]}, DATA | {"mentions": ["stranger"]}, "nobody", 0),
        ({"mention": ["in_app"]}, DATA | {"mentions": ["bob"]}, "nobody", 0),
        ({"watching": ["in_app"]}, DATA, "nobody", 0),
        (None, DATA, "not_routed", 0),
    ],
    ids=["notified", "nobody known", "only the actor", "no rule for the reason", "not routed"],
)
def test_an_event_says_what_became_of_it(
    world: World, api: Api, rules: dict[str, list[str]] | None, data: dict[str, Any], outcome: str, recipients: int
) -> None:
    world.add_user("alice")
    world.add_user("bob")
    if rules:
        route(world, "issue.commented", rules)
    receipt = _receipt(_send(api, to_structured_event(_event(data))))
    before = api.get(f"/v1/events/{receipt['notification_id']}")

    fan_out_all(world)

    after = api.get(f"/v1/events/{receipt['notification_id']}")
    assert (before.status, after.status) == (200, 200)
    assert before.json == {
        "notification_id": receipt["notification_id"],
        "source": "/repos/7",
        "event_id": "e-1",
        "type": "issue.commented",
        "scope": "repo:7",
        "thread": {"kind": "issue", "id": "7"},
        "dead_letter": None,
        "actor": "bob",
        "data": data,
        "mode": "live",
        "occurred_at": "2026-11-15T10:00:00Z",
        "recorded_at": receipt["recorded_at"],
        "outcome": "waiting",
        "recipient_count": 0,
    }
    assert after.json == before.json | {"outcome": outcome, "recipient_count": recipients}


def test_an_event_without_a_time_happened_when_it_was_recorded(world: World, api: Api) -> None:
    receipt = _post(api, _written(time=..., data=...)).json

    shown = api.get(f"/v1/events/{receipt['notification_id']}").json

    assert shown["occurred_at"] == shown["recorded_at"] == receipt["recorded_at"]
    assert (shown["thread"], shown["scope"], shown["actor"], shown["data"]) == (None, None, None, {})
    assert abs(datetime.now(UTC) - datetime.fromisoformat(shown["recorded_at"])) < timedelta(minutes=1)


def test_an_event_of_another_tenant_or_of_nobody_is_404(world: World, api: Api) -> None:
    world.add_tenant()
    theirs = Api(world.add_key(*SCOPES, tenant=OTHER_TENANT))
    receipt = _receipt(_send(theirs, to_structured_event(_event())))

    for notification_id in (receipt["notification_id"], str(UUID(int=7)), "x", "e-1"):
        assert_problem(api.get(f"/v1/events/{notification_id}"), 404, "not-found")
    assert theirs.get(f"/v1/events/{receipt['notification_id']}").status == 200
