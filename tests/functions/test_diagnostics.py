"""Diagnostics by HTTP: each kind of trouble is planted and found, with what mends it; who is silent is not known."""

import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from moto.sqs.models import sqs_backends

from devstack.post_office import PostOffice
from devstack.post_office.ses_standing import Standing
from tests.devstack.sdk import mail
from tests.functions.doors import Api
from tests.operators import close_lane
from tests.work_queue import ACCOUNT_ID, REGION
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.foundation import aws, database, settings
from tocsin.foundation.ids import uuid7
from tocsin.store import admin_system_events, job_runs
from tocsin.store.migrations import EXPECTED
from tocsin.upkeep import ask_aws, check_audit
from tocsin.upkeep.diagnosis import JOBS
from tocsin.upkeep.diagnostic import ORDER

SENDER, DOMAIN = "notify@example.com", "example.com"
OTHER_QUEUES = {
    "INTAKE_QUEUE_URL": "intake",
    "FEEDBACK_QUEUE_URL": "feedback",
    "INTAKE_DEAD_LETTER_QUEUE_URL": "dead-intake",
    "WORK_DEAD_LETTER_QUEUE_URL": "dead-work",
    "FEEDBACK_DEAD_LETTER_QUEUE_URL": "dead-feedback",
    "FAILED_INVOCATIONS_QUEUE_URL": "failed-invocations",
}
OF_EVERYBODY = ["database", "migrations", "clock", "jobs", "lanes", "audit"]


@dataclass
class Cloud:
    """AWS as the function finds it, and what the template told the function of it."""

    world: World
    office: PostOffice
    monkeypatch: pytest.MonkeyPatch

    def tell(self, **variables: str | None) -> None:
        for name, value in variables.items():
            if value is None:
                self.monkeypatch.delenv(name)
            else:
                self.monkeypatch.setenv(name, value)
        settings.settings.cache_clear()
        aws.client.cache_clear()

    def put(self, variable: str, count: int = 1) -> None:
        """Messages on one of the queues."""
        queue = sqs_backends[ACCOUNT_ID][REGION].queues[OTHER_QUEUES.get(variable, variable)]
        for _ in range(count):
            sqs_backends[ACCOUNT_ID][REGION].send_message(queue.name, "x")

    def run(self, job: str, outcome: str = "complete", **report: Any) -> None:
        run_id = uuid7()
        job_runs.start(self.world.worker, run_id, job)
        job_runs.finish(
            self.world.worker, run_id, outcome=outcome, report=report, error="KeyError" if outcome == "failed" else ""
        )

    def ses(self, **standing: Any) -> None:
        self.office.ses = Standing().changed(standing)


@pytest.fixture(autouse=True)
def cloud(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    """Everything is in order: the jobs have just run, the queues are empty, the sender is verified."""
    monkeypatch.setattr(ask_aws, "PAUSE", 0.0)
    with PostOffice(tmp_path / "ledger.sqlite") as office:
        cloud = Cloud(world, office, monkeypatch)
        queues = {variable: sqs_backends[ACCOUNT_ID][REGION].create_queue(name) for variable, name in OTHER_QUEUES.items()}
        urls = {variable: f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT_ID}/{queue.name}" for variable, queue in queues.items()}
        cloud.tell(AWS_ENDPOINT_URL_SESV2=office.url, EMAIL_FROM=SENDER, **urls)
        for job in JOBS:
            cloud.run(job)
        yield cloud
    aws.client.cache_clear()


def _diagnosed(api: Api) -> dict[str, Any]:
    answer = api.get("/v1/diagnostics")
    assert answer.status == 200, answer.text
    return dict(answer.json)


def _checks(api: Api) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in _diagnosed(api)["checks"]}


def test_an_installation_in_order_says_so(api: Api, world: World) -> None:
    found = _diagnosed(api)

    assert found["healthy"] is True
    assert [check["name"] for check in found["checks"]] == list(ORDER)
    assert [check for check in found["checks"] if (check["state"], check["fix"]) != ("ok", None)] == []
    assert found["at"].endswith("Z") or "+00:00" in found["at"]


def test_what_is_well_is_told_in_numbers(api: Api, cloud: Cloud) -> None:
    cloud.put("work-email", 3)
    cloud.ses(daily_quota=200)

    checks = _checks(api)

    assert SENDER in checks["configuration"]["detail"]
    assert "connections are used" in checks["database"]["detail"]
    assert EXPECTED in checks["migrations"]["detail"]
    assert "email 3" in checks["queues"]["detail"]
    assert "0 of 200 emails of 24 hours are sent" in checks["ses_account"]["detail"]


def _a_failed_job(cloud: Cloud) -> None:
    cloud.run("retention", "failed")


def _a_stopped_lane(cloud: Cloud) -> None:
    close_lane(cloud.world, "ses:email", tenant=None)


def _a_slow_lane(cloud: Cloud) -> None:
    close_lane(cloud.world, "ses:email", tenant=None, state="slowed", reason="Throttling")


def _a_broken_chain(cloud: Cloud) -> None:
    admin_system_events.raise_once(
        cloud.world.worker,
        event_type=check_audit.BROKEN,
        severity="critical",
        subject="audit_log",
        description="d",
        details={},
        tenant_id=TENANT,
    )


def _a_chain_that_nobody_checked(cloud: Cloud) -> None:
    cloud.world.admin.execute(
        """INSERT INTO audit_heads (tenant_id, seq, previous_hash, hash, checked_at)
           VALUES (%s, 1, '', '', tocsin_now() - interval '3 days')""",
        [TENANT],
    )


@pytest.mark.parametrize(
    ("plant", "name", "state", "detail", "fix"),
    [
        (lambda cloud: cloud.tell(EMAIL_FROM=None), "configuration", "failed", "No sender is set", "EmailFrom"),
        (lambda cloud: cloud.tell(SANDBOX_DOMAIN=DOMAIN), "configuration", "warning", "the sender's own domain", "SandboxDomain"),
        (lambda cloud: cloud.tell(DATABASE_SSLMODE="disable"), "configuration", "warning", "not encrypted", "verify-full"),
        (lambda cloud: cloud.tell(DATABASE_SSLMODE="require"), "configuration", "warning", "(require)", "verify-full"),
        (lambda cloud: cloud.tell(LOG_LEVEL="DEBUG"), "configuration", "warning", "DEBUG", "LogLevel=INFO"),
        (lambda cloud: cloud.tell(LOG_LEVEL="WARNING"), "configuration", "failed", "alarms are made of", "LogLevel=INFO"),
        (lambda cloud: cloud.put("INTAKE_DEAD_LETTER_QUEUE_URL", 2), "queues", "failed", "intake holds 2 messages", "move them"),
        (lambda cloud: cloud.put("WORK_DEAD_LETTER_QUEUE_URL"), "queues", "warning", "work holds 1 message.", "purge"),
        (lambda cloud: cloud.put("FEEDBACK_DEAD_LETTER_QUEUE_URL"), "queues", "failed", "feedback holds 1", "move them"),
        (lambda cloud: cloud.put("FAILED_INVOCATIONS_QUEUE_URL"), "queues", "warning", "failed_invocations holds 1", "read why"),
        (lambda cloud: cloud.run("sweep", oldest_due_seconds=660), "queues", "failed", "11 minutes", "GET /v1/outbox/stats"),
        (lambda cloud: cloud.ses(production_access=False), "ses_account", "warning", "sandbox", "production access"),
        (lambda cloud: cloud.ses(sending_enabled=False), "ses_account", "failed", "SES sends nothing", "dashboard"),
        (lambda cloud: cloud.ses(enforcement="SHUTDOWN"), "ses_account", "failed", "(SHUTDOWN)", "dashboard"),
        (lambda cloud: cloud.ses(enforcement="PROBATION"), "ses_account", "warning", "reviews", "stop the producer"),
        (lambda cloud: cloud.ses(identities={SENDER: None, DOMAIN: None}), "ses_identity", "failed", "no identity", "Verify"),
        (
            lambda cloud: cloud.ses(identities={SENDER: None, DOMAIN: {"status": "PENDING", "dkim": "PENDING"}}),
            "ses_identity",
            "failed",
            "example.com (PENDING)",
            "publish the records",
        ),
        (
            lambda cloud: cloud.ses(identities={SENDER: None, DOMAIN: {"dkim": "FAILED"}}),
            "ses_identity",
            "warning",
            "not signed with DKIM (FAILED)",
            "three CNAME records",
        ),
        (_a_failed_job, "jobs", "failed", "The job retention failed last time: KeyError.", "the function retention"),
        (_a_stopped_lane, "lanes", "failed", "ses:email is stopped", "POST /v1/lanes/ses:email/open"),
        (_a_slow_lane, "lanes", "warning", "ses:email is slowed: Throttling", "Wait"),
        (_a_broken_chain, "audit", "failed", "not what was written", "GET /v1/audit-log/verify"),
        (_a_chain_that_nobody_checked, "audit", "warning", "for 72 hours", "audit_check"),
    ],
)
def test_what_is_wrong_is_found_with_what_mends_it(
    api: Api, cloud: Cloud, plant: Callable[[Cloud], None], name: str, state: str, detail: str, fix: str
) -> None:
    plant(cloud)

    found = _diagnosed(api)

    wrong = {check["name"]: check for check in found["checks"] if check["state"] != "ok"}
    assert wrong[name]["state"] == state
    assert detail in wrong[name]["detail"]
    assert fix in wrong[name]["fix"]
    assert wrong.keys() <= {name, "ses_identity"}, "a sender that is not set has no identity either"
    assert found["healthy"] is (state == "warning")


@pytest.mark.parametrize(("quota", "state"), [(10, "ok"), (5, "warning"), (4, "failed"), (-1, "ok")])
def test_the_quota_is_judged_by_what_is_left_of_it(api: Api, cloud: Cloud, quota: int, state: str) -> None:
    for _ in range(4):
        mail(cloud.office.url)
    cloud.ses(daily_quota=quota)

    assert _checks(api)["ses_account"]["state"] == state


@pytest.mark.parametrize(("apart", "state"), [(20, "warning"), (-20, "warning"), (600, "failed")])
def test_clocks_that_differ_are_found(api: Api, cloud: Cloud, apart: int, state: str) -> None:
    cloud.world.pass_time(timedelta(seconds=apart))
    database.disconnect()
    for job in JOBS:
        cloud.run(job)

    clock = _checks(api)["clock"]

    assert clock["state"] == state
    assert ("ahead of" if apart > 0 else "behind") in clock["detail"]


@pytest.mark.parametrize(("other", "verified"), [(SENDER, DOMAIN), (DOMAIN, SENDER)])
@pytest.mark.parametrize("how", [None, {"status": "FAILED", "dkim": "FAILED"}])
def test_one_verified_identity_is_enough(api: Api, cloud: Cloud, other: str, verified: str, how: dict[str, str] | None) -> None:
    cloud.ses(identities={other: how})

    assert _checks(api)["ses_identity"] == {
        "name": "ses_identity",
        "state": "ok",
        "detail": f"{verified} is verified, and mail is signed with DKIM.",
        "fix": None,
    }


def test_an_address_is_asked_for_only_after_its_domain_and_a_pause(
    api: Api, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two at once might be one too many for SES."""
    monkeypatch.setattr(ask_aws, "PAUSE", 0.5)
    cloud.ses(identities={DOMAIN: None})
    started = time.monotonic()

    assert _checks(api)["ses_identity"]["state"] == "ok"
    assert time.monotonic() - started >= 0.5


@pytest.mark.parametrize("sender", ["notify@mail.example.com", "notify+shop@example.com"])
def test_a_sender_that_a_higher_identity_may_cover_is_not_called_broken(api: Api, cloud: Cloud, sender: str) -> None:
    """Whether one does, this function may not ask; the lane says so when mail is refused."""
    cloud.tell(EMAIL_FROM=sender)
    cloud.ses(identities={sender: None, sender.rpartition("@")[2]: None})

    assert _checks(api)["ses_identity"]["state"] == "warning"


def test_what_came_to_nothing_in_the_database_is_found(breakable_world: World, cloud: Cloud) -> None:
    api, world = Api(breakable_world.add_key("operate")), breakable_world
    world.admin.execute("INSERT INTO _yoyo_migration (migration_hash, migration_id) VALUES ('x', '9999.less.since-9998')")
    left_behind = _checks(api)["migrations"]
    world.admin.execute("UPDATE _yoyo_migration SET migration_id = '9999.more' WHERE migration_hash = 'x'")
    newer = _checks(api)["migrations"]
    world.admin.execute("DELETE FROM _yoyo_migration WHERE migration_id = %s OR migration_hash = 'x'", [EXPECTED])
    world.admin.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'lanes_pkey'::regclass")
    behind = _checks(api)["migrations"]

    assert (left_behind["state"], "serves code since 9998" in left_behind["detail"]) == ("failed", True)
    assert (newer["state"], "lives with what came after it" in newer["detail"]) == ("ok", True)
    assert (behind["state"], EXPECTED in behind["detail"], "lanes_pkey" in behind["detail"]) == ("failed", True, True)
    assert "SchemaVersion" in behind["fix"]


@pytest.fixture
def nobody() -> Iterator[str]:
    """A server that takes every connection and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_where_aws_says_nothing_it_is_not_known_and_the_rest_is_told_in_time(api: Api, cloud: Cloud, nobody: str) -> None:
    cloud.tell(AWS_ENDPOINT_URL_SESV2=nobody, AWS_ENDPOINT_URL_SQS=nobody)
    started = time.monotonic()

    found = _diagnosed(api)

    assert time.monotonic() - started < 5
    states = {check["name"]: check["state"] for check in found["checks"]}
    silent = {"queues", "ses_account", "ses_identity"}
    assert states == {name: "unknown" if name in silent else "ok" for name in ORDER}
    assert found["healthy"] is False
    told = {check["name"]: check for check in found["checks"]}
    assert "ReadTimeoutError" in told["ses_account"]["detail"]
    assert "reaches SES" in told["ses_account"]["fix"]
    assert "work dead letters" in told["queues"]["detail"]


def test_all_questions_together_end_in_time(api: Api, cloud: Cloud, nobody: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever holds one of them up: a name server knows no time limit of ours."""
    monkeypatch.setattr(ask_aws, "IN_ALL", 0.2)
    cloud.tell(AWS_ENDPOINT_URL_SESV2=nobody)
    aws.client("sesv2", ask_aws.LIMITS), aws.client("sqs", ask_aws.LIMITS)
    started = time.monotonic()

    checks = _checks(api)

    assert time.monotonic() - started < 1
    assert "no answer in time" in checks["ses_account"]["detail"]


def test_a_queue_that_is_not_there_and_one_that_is_not_named_are_not_known(api: Api, cloud: Cloud) -> None:
    url = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT_ID}/gone"
    cloud.tell(FEEDBACK_QUEUE_URL=url, FAILED_INVOCATIONS_QUEUE_URL=None)

    queues = _checks(api)["queues"]

    assert queues["state"] == "unknown"
    assert "these queues are: feedback (" in queues["detail"]
    assert "FAILED_INVOCATIONS_QUEUE_URL is not set" in queues["detail"]


def test_no_question_is_asked_twice(api: Api, cloud: Cloud) -> None:
    asked: list[str] = []
    answer = cloud.office.answer
    cloud.office.stop()
    cloud.monkeypatch.setattr(cloud.office, "answer", lambda *call: (asked.append(call[1]), answer(*call))[1])
    cloud.office.start()

    _diagnosed(api)

    assert sorted(asked) == ["/v2/email/account", "/v2/email/identities/example.com"]


def test_another_tenant_sees_its_own_checks_without_the_installations_numbers(world: World, cloud: Cloud, nobody: str) -> None:
    """And AWS is not asked for it, which would take a while here."""
    world.add_tenant()
    cloud.tell(AWS_ENDPOINT_URL_SESV2=nobody, AWS_ENDPOINT_URL_SQS=nobody, EMAIL_FROM=None)
    cloud.put("INTAKE_DEAD_LETTER_QUEUE_URL")

    found = _diagnosed(Api(world.add_key("operate", tenant=OTHER_TENANT)))

    assert found["healthy"] is True
    assert [check["name"] for check in found["checks"]] == OF_EVERYBODY
    assert found["checks"][0] == {"name": "database", "state": "ok", "detail": "It answers.", "fix": None}


def test_the_trouble_of_one_tenant_is_not_anothers(world: World, cloud: Cloud) -> None:
    world.add_tenant()
    _a_broken_chain(cloud)
    close_lane(world, f"webhook:{uuid7()}", state="broken")

    assert _diagnosed(Api(world.add_key("operate", tenant=OTHER_TENANT)))["healthy"] is True


def test_a_key_without_the_scope_is_told_nothing(world: World) -> None:
    assert Api(world.add_key("send", "read", "manage", "admin")).get("/v1/diagnostics").status == 403
