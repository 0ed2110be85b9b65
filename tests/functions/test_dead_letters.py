"""Dead letters by HTTP: seen, grouped, replayed, laid aside; and what a notification says of its own."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.content import add_template
from tests.events import fan_out_all, happen, route
from tests.functions.doors import Api
from tests.functions.test_problems import assert_problem
from tests.letters import LOST, bury_delivery, bury_plan, letter, newest
from tests.world import OTHER_TENANT, WINDOW, World
from tocsin.channels.outcomes import Failure, FailureClass

Later = Callable[[timedelta], None]
LETTERS = "/v1/dead-letters"


@pytest.fixture
def alice(world: World) -> World:
    world.add_user()
    return world


def whoami(world: World) -> str:
    return f"key:{world.one('SELECT id FROM api_keys ORDER BY created_at, id LIMIT 1')}"


def test_a_letter_shows_everything_there_is_to_know_of_it(alice: World, api: Api) -> None:
    template = add_template(alice, "shipped")
    died = bury_delivery(alice, template="shipped")

    (listed,) = api.get(LETTERS).json["data"]
    shown = api.get(f"{LETTERS}/{died}").json

    assert listed == {name: shown[name] for name in listed}
    assert (shown["source_kind"], shown["channel"], shown["recipient"], shown["type"]) == (
        *("deliver", "email", "user:alice", "order.shipped"),
    )
    assert (shown["classification"], shown["provider"], shown["provider_code"]) == ("permanent", "ses", "MessageRejected")
    assert (shown["final_attempt_count"], shown["max_attempts"], shown["generation"]) == (1, 5, 1)
    assert shown["failure_message"] == "MessageRejected: Address blacklisted."
    assert "then replay" in shown["recovery_hint"]
    assert shown["template"] == {"id": str(template.id), "name": "shipped", "version": 1}
    assert [(one["attempt_no"], one["outcome"], one["provider"]) for one in shown["attempts"]] == [(1, "permanent", "ses")]
    assert shown["first_attempt_at"] == shown["last_attempt_at"] == shown["attempts"][0]["started_at"]
    assert (shown["notification"]["producer"], shown["notification"]["mode"]) == ("shop", "live")
    assert (shown["work"]["queue"], shown["work"]["retry_backoff"], shown["obstacle"]) == ("email", "exponential", None)
    assert (shown["resolution"], shown["resolved_by"], shown["replay"]) == (None, None, None)
    assert "alice@example.com" not in str(shown)


def test_a_replay_is_told_in_the_letter_and_in_the_timeline(alice: World, api: Api) -> None:
    died = bury_delivery(alice)
    notification = f"/v1/notifications/{letter(alice, died)['notification_id']}"

    made = api.post(f"{LETTERS}/{died}/replay")
    assert (made.status, made.json["generation"], made.json["resolution"]) == (202, 2, "replayed")
    assert (made.json["second_copy_possible"], made.json["warning"]) == (False, None)
    assert api.get(f"{LETTERS}/{died}").json["replay"]["status"] == "under_way"
    assert api.get(notification).json["status"] == "in_progress"
    alice.dispatch()

    shown, told = api.get(f"{LETTERS}/{died}").json, api.get(notification).json
    assert (shown["resolution"], shown["resolved_by"], shown["replay"]["status"]) == ("replayed", whoami(alice), "published")
    assert shown["replay"]["work_id"] == made.json["work_id"]
    (way,) = told["routes"]
    assert [(one["generation"], one["attempt_no"]) for one in way["attempts"]] == [(1, 1), (2, 1)]
    assert (way["provider_response"], way["dead_letter"]) == ("accepted", None)
    assert told["updated_at"] >= told["accepted_at"]
    line = [(one["what"], one["reason"]) for one in told["timeline"] if one["what"] != "planned"]
    assert line == [
        ("accepted", "by shop"),
        ("attempt_opened", "attempt 1 by ses"),
        ("attempt_permanent", "attempt 1 by ses: MessageRejected: Address blacklisted."),
        ("dead_letter", "permanent: MessageRejected: Address blacklisted."),
        ("replayed", f"by {whoami(alice)}, as generation 2"),
        ("attempt_opened", "attempt 1 by ses (generation 2)"),
        ("attempt_accepted", "attempt 1 by ses (generation 2)"),
        ("published", "accepted by ses"),
    ]


def test_a_double_click_replays_once(alice: World, api: Api) -> None:
    died = bury_delivery(alice)

    first, second = (api.post(f"{LETTERS}/{died}/replay") for _ in range(2))

    assert first.status == 202
    assert_problem(second, 409, "already-resolved")
    assert (alice.route()["generation"], alice.count("outbox")) == (2, 1)


def test_the_doors_nudge_reaches_the_queue_of_the_work(alice: World, api: Api) -> None:
    made = api.post(f"{LETTERS}/{bury_delivery(alice)}/replay").json

    assert [one.queue for one in alice.nudges() if str(one.ids[0]) == made["work_id"]] == ["email"]


def test_an_expired_one_is_409_and_says_how_it_can_be_replayed_all_the_same(alice: World, api: Api, later: Later) -> None:
    died = bury_delivery(alice, expires_at=alice.one("SELECT tocsin_rfc3339(tocsin_now() + interval '1 hour')"))
    later(timedelta(hours=2))

    refused = api.post(f"{LETTERS}/{died}/replay", {})
    assert "past_expiry" in assert_problem(refused, 409, "expired")["detail"]
    assert api.get(f"{LETTERS}/{died}").json["obstacle"]["reason"] == "expired"
    assert api.post(f"{LETTERS}/{died}/replay", {"past_expiry": True}).status == 202


def test_an_ambiguous_one_says_that_a_second_copy_is_possible(alice: World, api: Api, later: Later) -> None:
    alice.admin.execute("UPDATE users SET phone = '+4915112345678'")
    alice.sms.answers.append(LOST)
    alice.accept(channels=["sms"])
    alice.dispatch()
    later(WINDOW + timedelta(minutes=1))
    alice.dispatch()
    died = newest(alice)
    assert api.get(f"{LETTERS}/{died}").json["second_copy_possible"] is True

    made = api.post(f"{LETTERS}/{died}/replay").json

    assert made["second_copy_possible"] is True
    assert "second copy" in made["warning"]


def test_a_letter_is_laid_aside_with_a_reason(alice: World, api: Api) -> None:
    died = bury_delivery(alice)

    done = api.post(f"{LETTERS}/{died}/resolve", {"resolution": "ignored", "reason": "she moved away"})

    assert (done.status, done.json["resolution"], done.json["resolution_reason"]) == (200, "ignored", "she moved away")
    assert done.json["resolved_by"] == whoami(alice)
    again = api.post(f"{LETTERS}/{died}/resolve", {"resolution": "ignored", "reason": "once more"})
    assert_problem(again, 409, "already-resolved")
    assert_problem(api.post(f"{LETTERS}/{died}/replay"), 409, "already-resolved")
    (row,) = alice.rows("SELECT * FROM audit_logs WHERE resource_type = 'dead_letter'")
    assert (row["action"], row["resource_id"], row["actor"]) == ("resolve", str(died), whoami(alice))
    assert row["changes"] == {"new": {"resolution": "ignored", "reason": "she moved away"}}


@pytest.mark.parametrize(
    "body", [{}, {"resolution": "ignored"}, {"resolution": "ignored", "reason": ""}, {"resolution": "replayed", "reason": "x"},
             {"resolution": "ignored", "reason": "x" * 501}, {"resolution": "ignored", "reason": " "}],
)  # fmt: skip
def test_without_a_reason_nothing_is_laid_aside(body: Any, alice: World, api: Api) -> None:
    died = bury_delivery(alice)

    assert_problem(api.post(f"{LETTERS}/{died}/resolve", body), 422, "invalid-request")
    assert letter(alice, died)["resolution"] is None


def test_what_waits_is_counted_and_grouped(alice: World, api: Api) -> None:
    first, second, plan = bury_delivery(alice), bury_delivery(alice), bury_plan(alice)

    assert api.get(f"{LETTERS}/unresolved-count").json == {"unresolved": 3}
    groups = api.get(f"{LETTERS}/groups").json["data"]
    assert [(one["source_kind"], one["classification"], one["count"], one["example_id"]) for one in groups] == [
        ("deliver", "permanent", 2, str(second)),
        ("plan", "poison", 1, str(plan)),
    ]
    assert groups[0]["first_seen_at"] == api.get(f"{LETTERS}/{first}").json["created_at"]
    assert groups[0]["recovery_hint"]
    api.post(f"{LETTERS}/{first}/resolve", {"resolution": "ignored", "reason": "x"})
    assert api.get(f"{LETTERS}/unresolved-count").json == {"unresolved": 2}


def test_the_list_is_filtered_and_paged(alice: World, api: Api) -> None:
    died = [str(bury_delivery(alice)) for _ in range(3)]
    plan = str(bury_plan(alice, type="other"))

    def listed(**query: str) -> list[str]:
        return [one["id"] for one in api.get(LETTERS, query=query).json["data"]]

    assert listed() == [plan, *reversed(died)]
    assert listed(source_kind="plan") == listed(type="other") == listed(classification="poison") == [plan]
    assert listed(user_id="alice") == listed(recipient="user:alice") == listed(channel="email") == died[::-1]
    assert listed(provider="ses", provider_code="MessageRejected") == died[::-1]
    assert (
        listed(notification_id=str(alice.one("SELECT notification_id FROM dead_letters WHERE id = %(id)s", id=died[0])))
        == died[:1]
    )
    assert listed(state="resolved") == listed(user_id="bob") == listed(until="2020-01-01T00:00:00Z") == []
    page = api.get(LETTERS, query={"limit": "3"}).json
    rest = api.get(LETTERS, query={"limit": "3", "cursor": page["next_cursor"]}).json
    assert [one["id"] for one in page["data"] + rest["data"]] == listed()


SENSELESS: list[dict[str, str]] = [
    {"state": "lost"}, {"source_kind": "x"}, {"since": "yesterday"}, {"notification_id": "7"}, {"template_version": "x"},
    {"template_version": "2"}, {"user_id": "a", "recipient": "user:b"}, {"channel": "pigeon"}, {"nonsense": "1"},
]  # fmt: skip


@pytest.mark.parametrize("query", SENSELESS)
def test_a_filter_that_makes_no_sense_is_refused(query: dict[str, str], alice: World, api: Api) -> None:
    assert_problem(api.get(LETTERS, query=query), 422, "invalid-request")


def test_a_dry_run_and_then_a_job_with_progress(alice: World, api: Api) -> None:
    for _ in range(3):
        bury_delivery(alice)
    ask = {"filter": {"classification": "permanent"}}

    dry = api.post(f"{LETTERS}/replay", ask | {"dry_run": True})
    assert (dry.status, dry.json["replayed"], dry.json["replayable"], dry.json["skipped"]) == (200, 3, {"deliver": 3}, 0)
    made = api.post(f"{LETTERS}/replay", ask)
    assert (made.status, made.json["status"], made.json["done"]) == (202, "queued", 0)
    for _ in range(3):
        alice.dispatch()

    shown = api.get(f"/v1/jobs/{made.json['id']}").json
    assert (shown["status"], shown["total"], shown["done"], shown["arguments"]["filter"]["classification"]) == (
        *("complete", 3, 3, "permanent"),
    )
    assert [one["id"] for one in api.get("/v1/jobs").json["data"]] == [made.json["id"]]
    assert api.get("/v1/jobs", query={"status": "failed"}).json["data"] == []
    assert_problem(api.post(f"/v1/jobs/{made.json['id']}/cancel"), 409, "job-ended")


def test_a_request_that_is_repeated_makes_one_job(alice: World, api: Api) -> None:
    bury_delivery(alice)

    made = {api.post(f"{LETTERS}/replay", {"filter": {}}, request_id="r-1").json["id"] for _ in range(2)}

    assert (len(made), alice.count("jobs"), alice.count("outbox")) == (1, 1, 1)


def test_a_job_is_cancelled(alice: World, api: Api) -> None:
    bury_delivery(alice)
    made = api.post(f"{LETTERS}/replay", {"filter": {}}).json

    assert api.post(f"/v1/jobs/{made['id']}/cancel").json["status"] == "cancelled"
    assert api.get(f"/v1/jobs/{made['id']}").json["finished_at"]
    assert {row["action"] for row in alice.rows("SELECT action FROM audit_logs WHERE resource_type = 'job'")} == {
        "replay",
        "cancel",
    }


def test_another_tenant_sees_and_touches_nothing(alice: World, api: Api) -> None:
    alice.add_tenant()
    died = bury_delivery(alice)
    job = api.post(f"{LETTERS}/replay", {"filter": {"type": "other"}}).json["id"]
    other = Api(alice.add_key("operate", tenant=OTHER_TENANT))

    assert (
        other.get(LETTERS).json["data"] == other.get("/v1/jobs").json["data"] == other.get(f"{LETTERS}/groups").json["data"] == []
    )
    assert other.get(f"{LETTERS}/unresolved-count").json == {"unresolved": 0}
    ignore = {"resolution": "ignored", "reason": "x"}
    refused = [
        other.get(f"{LETTERS}/{died}"), other.post(f"{LETTERS}/{died}/replay"), other.post(f"{LETTERS}/{died}/resolve", ignore),
        other.get(f"/v1/jobs/{job}"), other.post(f"/v1/jobs/{job}/cancel"),
    ]  # fmt: skip
    assert [one.status for one in refused] == [404] * 5
    assert other.post(f"{LETTERS}/replay", {"filter": {}, "dry_run": True}).json["replayed"] == 0
    assert letter(alice, died)["resolution"] is None


def test_a_notification_whose_plan_died_says_so_and_is_listed_as_dead(alice: World, api: Api) -> None:
    died = bury_plan(alice)
    bury_delivery(alice)
    notification_id = str(letter(alice, died)["notification_id"])

    shown = api.get(f"/v1/notifications/{notification_id}").json
    assert (shown["status"], shown["routes"]) == ("dead_letter", [])
    assert (shown["dead_letter"]["id"], shown["dead_letter"]["classification"]) == (str(died), "poison")
    assert shown["dead_letter"]["recovery_hint"]
    assert [one["what"] for one in shown["timeline"]] == ["accepted", "dead_letter"]
    listed = api.get("/v1/notifications", query={"status": "dead_letter"}).json["data"]
    assert [one["status"] for one in listed] == ["finished", "dead_letter"]
    assert listed[1]["notification_id"] == notification_id
    assert {one["status"] for one in api.get("/v1/notifications").json["data"]} == {"finished", "dead_letter"}

    api.post(f"{LETTERS}/{died}/replay")
    assert api.get(f"/v1/notifications/{notification_id}").json["status"] == "accepted"
    alice.dispatch()
    shown = api.get(f"/v1/notifications/{notification_id}").json
    assert (shown["status"], shown["dead_letter"]) == ("finished", None)
    assert [one["what"] for one in shown["timeline"]][:4] == ["accepted", "dead_letter", "replayed", "planned"]
    assert len(api.get("/v1/notifications", query={"status": "dead_letter"}).json["data"]) == 1


def test_an_event_that_could_not_be_told_says_so_until_it_is_replayed(alice: World, api: Api) -> None:
    route(alice)
    event = f"/v1/events/{happen(alice, mentions=['alice'])}"
    alice.admin.execute("UPDATE domain_events_processed SET claim_count = 3")
    fan_out_all(alice)
    died = newest(alice)

    assert (api.get(event).json["outcome"], api.get(event).json["dead_letter"]["id"]) == ("dead_letter", str(died))
    api.post(f"{LETTERS}/{died}/replay")
    assert (api.get(event).json["outcome"], api.get(event).json["dead_letter"]) == ("waiting", None)
    alice.dispatch()
    assert api.get(event).json["outcome"] == "notified"


def test_what_the_provider_answered_is_in_the_route_without_the_address(alice: World, api: Api) -> None:
    alice.email.answers.append(Failure(FailureClass.PERMANENT, "MessageRejected", "alice@example.com is\nnot welcome"))
    alice.accept()
    alice.dispatch()
    notification_id = alice.route()["notification_id"]

    (way,) = api.get(f"/v1/notifications/{notification_id}").json["routes"]

    assert way["provider_response"] == "MessageRejected: [recipient] is not welcome"


def test_the_email_log_of_a_person_has_the_providers_message_ids(alice: World, api: Api) -> None:
    alice.add_user("bob")
    alice.accept(thread={"kind": "order", "id": "A-17"})
    alice.dispatch()
    alice.accept()
    alice.accept(audience={"kind": "users", "user_ids": ["bob"]})
    alice.dispatch()

    log = api.get("/v1/email-log", query={"user_id": "alice"}).json["data"]

    assert [(one["user_id"], one["message_id"], one["thread"]) for one in log] == [
        ("alice", "m-2", None) if log[0]["message_id"] == "m-2" else ("alice", "m-3", None),
        ("alice", "m-1", {"kind": "order", "id": "A-17"}),
    ]
    assert (log[0]["type"], log[0]["sent_at"] > log[1]["sent_at"]) == ("order.shipped", True)
    on_thread = api.get("/v1/email-log", query={"user_id": "alice", "thread": "order:A-17"}).json["data"]
    assert on_thread == log[1:]
    assert api.get("/v1/email-log", query={"user_id": "alice", "since": log[0]["sent_at"]}).json["data"] == log[:1]
    page = api.get("/v1/email-log", query={"user_id": "alice", "limit": "1"}).json
    rest = api.get("/v1/email-log", query={"user_id": "alice", "limit": "1", "cursor": page["next_cursor"]}).json
    assert page["data"] + rest["data"] == log
    assert [
        api.get("/v1/email-log", query=q).status for q in ({}, {"user_id": "alice", "thread": "x"}, {"user_id": "carol"})
    ] == [
        *(422, 422, 404),
    ]
    other = Api(alice.add_key("operate", tenant=alice.add_tenant()))
    assert other.get("/v1/email-log", query={"user_id": "alice"}).status == 404


def test_a_letter_that_is_not_there_is_404(api: Api) -> None:
    for answer in (api.get(f"{LETTERS}/{uuid4()}"), api.post(f"{LETTERS}/{uuid4()}/replay"), api.get(f"{LETTERS}/nonsense")):
        assert_problem(answer, 404, "not-found")
