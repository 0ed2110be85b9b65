"""Status by HTTP: each kind of trouble is planted and found, with what to do about it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.events import fan_out_all, happen, route
from tests.functions.doors import Api
from tests.operators import close_lane, keep_malformed
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation.ids import uuid7
from tocsin.store import admin_system_events, job_runs

AMBIGUOUS = Failure(FailureClass.AMBIGUOUS, "ReadTimeout", "no answer")
PERMANENT = Failure(FailureClass.PERMANENT, "MessageRejected", "no")


@pytest.fixture(autouse=True)
def jobs(world: World) -> None:
    """The jobs have just run."""
    for job in ("sweep", "retention"):
        _run(world, job)


def _run(world: World, job: str, outcome: str = "complete") -> None:
    run_id = uuid7()
    job_runs.start(world.worker, run_id, job)
    job_runs.finish(world.worker, run_id, outcome=outcome, report={"depth": 7}, error="KeyError" if outcome == "failed" else "")


def _status(api: Api) -> dict[str, Any]:
    answer = api.get("/v1/status")
    assert answer.status == 200, answer.text
    return dict(answer.json)


def _enqueue(world: World, count: int = 1, *, due: timedelta, tenant: UUID = TENANT, queue: str = "email", **row: Any) -> None:
    values = {"waits_for": None, "attempt_open": False, "leased": timedelta(0), "kind": "deliver"} | row
    world.admin.execute(
        """INSERT INTO outbox (id, tenant_id, source_kind, queue, due_at, max_attempts, retry_backoff, retry_base_ms, waits_for,
                               attempt_open, leased_until)
           SELECT tocsin_uuid7(), %(tenant)s, %(kind)s, %(queue)s, tocsin_now() + %(due)s, 5, 'linear', 1, %(waits_for)s,
                  %(attempt_open)s, tocsin_now() + %(leased)s
           FROM generate_series(1, %(count)s)""",
        values | {"tenant": tenant, "queue": queue, "due": due, "count": count},
    )


def test_a_service_without_trouble_says_so(api: Api) -> None:
    status = _status(api)

    assert (status["healthy"], status["problems"]) == (True, [])
    assert status["jobs"]["sweep"]["outcome"] == "complete"


def _late_work(world: World) -> None:
    _enqueue(world, 3, due=timedelta(minutes=-10))


def _events_that_wait(world: World) -> None:
    route(world)
    happen(world)
    world.pass_time(timedelta(minutes=6))
    for job in ("sweep", "retention"):
        _run(world, job)


def _a_stopped_lane(world: World) -> None:
    close_lane(world, "ses:email", tenant=None)
    _enqueue(world, 2, due=timedelta(minutes=5), waits_for="ses:email")


def _a_breaker(world: World) -> None:
    close_lane(world, f"webhook:{uuid7()}", state="broken", reason="time-outs in a row")


def _an_unknown_answer(world: World) -> None:
    world.add_user()
    world.email.answers.append(AMBIGUOUS)
    world.accept()
    world.dispatch()


def _dead_letters(world: World) -> None:
    world.add_user()
    world.email.answers.extend([PERMANENT, PERMANENT])
    for _ in range(2):
        world.accept()
    world.dispatch()


def _malformed(world: World) -> None:
    keep_malformed(world, {})


def _a_system_event(world: World) -> None:
    admin_system_events.raise_once(
        world.worker, event_type="books", severity="critical", subject="", description="d", details={}, tenant_id=TENANT
    )


def _a_hook_that_was_switched_off(world: World) -> None:
    world.admin.execute(
        """INSERT INTO webhooks (id, tenant_id, url, description, secret, events, modes, is_active, disabled_reason, disabled_at,
                                 retry_count, timeout_seconds, created_by)
           VALUES (%s, %s, 'https://hooks.example.com/secret-path', '', %s, '{notification.published}', '{live}', false,
                   'failing', tocsin_now(), 10, 10, %s)""",
        (uuid7(), TENANT, b"sealed", uuid7()),
    )


def _a_job_that_failed(world: World) -> None:
    _run(world, "retention", "failed")


def _a_job_that_does_not_run(world: World) -> None:
    world.pass_time(timedelta(minutes=20))
    _run(world, "retention")


@pytest.mark.parametrize(
    ("plant", "what", "do", "kind"),
    [
        (
            _late_work,
            "Work on the email queue (deliver) has been due for 10 minutes: 3 pieces.",
            "GET /v1/outbox/stats",
            "late_work",
        ),
        (_events_that_wait, "1 event waits to be fanned out, the first for 6 minutes.", "plan queue", "late_events"),
        (
            _a_stopped_lane,
            "The lane ses:email is stopped: AccountSuspended. 2 messages wait for it.",
            "/v1/lanes/ses:email/open",
            "lane",
        ),
        (_a_breaker, "is broken: time-outs in a row. 0 messages wait for it.", "POST /v1/lanes/webhook:", "lane"),
        (
            _an_unknown_answer,
            "The provider's answer to 1 attempt is not known.",
            "GET /v1/notifications/{id}",
            "unknown_attempts",
        ),
        (_dead_letters, "2 dead letters (deliver email): permanent.", "GET /v1/dead-letters", "dead_letters"),
        (
            _malformed,
            "1 message from the queue could not be accepted.",
            "GET /v1/malformed-intents?is_resolved=false",
            "malformed_intents",
        ),
        (
            _a_system_event,
            "1 system event of severity critical is open.",
            "GET /v1/system-events?is_resolved=false&severity=critical",
            "system_events",
        ),
        (
            _a_hook_that_was_switched_off,
            "A webhook is switched off (failing): hooks.example.com hears nothing.",
            "with is_active true",
            "webhook",
        ),
        (_a_job_that_failed, "The job retention failed last time: KeyError.", "the log of the function retention", "job"),
        (_a_job_that_does_not_run, "The job sweep has not run for 20 minutes.", "the function sweep", "job"),
    ],
)
def test_what_is_wrong_is_found_with_what_to_do_about_it(
    world: World, api: Api, plant: Callable[[World], None], what: str, do: str, kind: str
) -> None:
    plant(world)

    status = _status(api)

    assert status["healthy"] is False
    (found,) = [problem for problem in status["problems"] if what in problem["what"]]
    assert do in found["do"]
    assert found["kind"] == kind
    assert len(status["problems"]) == 1


@pytest.mark.parametrize(
    ("plant", "about"),
    [
        (_a_stopped_lane, {"lane": "ses:email"}),
        (_late_work, {"queue": "email", "kind": "deliver"}),
        (
            _dead_letters,
            {"source_kind": "deliver", "channel": "email", "classification": "permanent", "provider": "ses"}
            | {"provider_code": "MessageRejected"},
        ),
        (_a_system_event, {"severity": "critical"}),
        (_a_job_that_failed, {"job": "retention"}),
    ],
)
def test_a_program_is_told_what_the_trouble_is_about(
    world: World, api: Api, plant: Callable[[World], None], about: dict[str, str]
) -> None:
    plant(world)

    assert [problem["about"] for problem in _status(api)["problems"]] == [about]


def test_a_hook_that_somebody_switched_off_is_no_trouble(world: World, api: Api) -> None:
    _a_hook_that_was_switched_off(world)
    world.admin.execute("UPDATE webhooks SET disabled_reason = 'request'")

    assert _status(api)["problems"] == []


def test_events_that_an_open_transaction_holds_back_say_so(world: World, api: Api) -> None:
    """Nothing is read past a transaction that may still write before it."""
    writer = world.connect("postgres")
    with writer.transaction():
        writer.execute("SELECT pg_current_xact_id()")
        _events_that_wait(world)
        status = _status(api)

    assert status["events_behind_fan_out"]["held_by_open_transaction"] is True
    assert [problem["do"] for problem in status["problems"]] == [
        "A transaction that has written something stays open in the database: end it where it was opened."
    ]


def test_the_status_says_when_the_fan_out_last_went_on(world: World, api: Api) -> None:
    world.pass_time(timedelta(hours=1))
    route(world)
    happen(world)
    fan_out_all(world)
    moved_at = world.one("SELECT tocsin_now()")
    _events_that_wait(world)

    shown = datetime.fromisoformat(_status(api)["events_behind_fan_out"]["cursor_moved_at"])

    assert abs(moved_at - shown) < timedelta(minutes=1)


@pytest.mark.parametrize("plant", [_late_work, _a_breaker, _an_unknown_answer, _dead_letters, _malformed, _a_system_event])
def test_the_trouble_of_one_tenant_is_not_anothers(world: World, plant: Callable[[World], None]) -> None:
    world.add_tenant()
    plant(world)

    assert _status(Api(world.add_key("operate", tenant=OTHER_TENANT)))["problems"] == []


def test_what_belongs_to_the_installation_is_told_to_everyone_and_its_numbers_are_not(world: World, api: Api) -> None:
    world.add_tenant()
    _a_stopped_lane(world)
    other = _status(Api(world.add_key("operate", tenant=OTHER_TENANT)))

    assert [problem["what"] for problem in other["problems"]] == [
        "The lane ses:email is stopped: AccountSuspended. 0 messages wait for it."
    ]
    assert "report" not in other["jobs"]["sweep"]
    assert _status(api)["jobs"]["sweep"]["report"] == {"depth": 7}


def test_a_job_that_never_ran_is_a_problem(world: World, api: Api) -> None:
    world.admin.execute("DELETE FROM job_runs WHERE job = 'sweep'")

    assert [problem["what"] for problem in _status(api)["problems"]] == ["The job sweep has never run."]


def test_the_outbox_in_numbers(world: World, api: Api) -> None:
    world.add_tenant()
    _enqueue(world, 2, due=timedelta(seconds=-30))
    _enqueue(world, 1, due=timedelta(seconds=-30), leased=timedelta(minutes=1))
    _enqueue(world, 3, due=timedelta(hours=1))
    _enqueue(world, 4, due=timedelta(hours=1), waits_for="ses:email")
    _enqueue(world, 5, due=timedelta(seconds=-60), queue="plan", kind="fanout")
    _enqueue(world, 9, due=timedelta(seconds=-90), tenant=OTHER_TENANT)

    stats = api.get("/v1/outbox/stats").json

    assert {name: stats[name] for name in ("depth", "due", "leased", "waiting", "waiting_for_lane", "at_least")} == {
        "depth": 15, "due": 7, "leased": 1, "waiting": 7, "waiting_for_lane": 4, "at_least": False,
    }  # fmt: skip
    assert 60 <= stats["oldest_due_seconds"] < 90
    plan, email = stats["by"]
    assert (plan["queue"], plan["kind"], plan["due"]) == ("plan", "fanout", 5)
    assert (email["queue"], email["kind"], email["due"], email["leased"], email["waiting"]) == ("email", "deliver", 2, 1, 7)


def test_more_than_is_counted_says_at_least(world: World, api: Api) -> None:
    _enqueue(world, 10_500, due=timedelta(seconds=-1))

    stats = api.get("/v1/outbox/stats").json

    assert (stats["depth"], stats["at_least"]) == (10_000, True)


def test_a_key_without_the_scope_is_told_nothing(world: World) -> None:
    stranger = Api(world.add_key("send", "read", "manage", "admin"))

    assert [stranger.get(path).status for path in ("/v1/status", "/v1/outbox/stats", "/v1/lanes")] == [403] * 3
