"""Whom not to write to: what suppresses whom, for how long, what is never weakened, and that the gate looks when it claims."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.content import add_suppression, add_type
from tests.crash.staging import plan_only
from tests.integration.forgetting import apply
from tests.ses_events import heard
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.feedback import unsubscribe_link
from tocsin.feedback.apply import apply_events
from tocsin.feedback.unsubscribe_tokens import Subject, address_hash, sign
from tocsin.foundation import aws, secrets, settings
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import suppressions

ALICE = "alice@example.com"
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


def now(world: World) -> datetime:
    moment: datetime = world.one("SELECT tocsin_now()")
    return moment


def send(world: World, *, tenant: UUID = TENANT, address: str = ALICE, **intent: Any) -> dict[str, Any]:
    """Send one email (or what the intent says) and return its route."""
    to = {"kind": "address", "email": address, "phone": "+14155550100"}
    asked = world.accept(**({"audience": to, "tenant": tenant} | intent))
    world.dispatch()
    (route,) = world.rows("SELECT * FROM routes WHERE notification_id = %(id)s", id=asked.notification_id)
    return route


def end(route: dict[str, Any]) -> tuple[str, str]:
    return route["status"], route["reason"]


def bounce(world: World, news: str = "soft bounce", **of: Any) -> None:
    """Send an email, and hear of its bounce (or other news) at once."""
    route = send(world, **of)
    assert route["status"] == "published", end(route)
    tell(world, route, news)


def tell(world: World, route: dict[str, Any], news: str) -> None:
    attempt = route | {"attempt_no": 1}
    apply_events(world.worker, [heard(news, attempt, message_id=f"{route['notification_id']}", at=now(world))])


def reasons(world: World) -> list[tuple[str, bool]]:
    """Each suppression's reason, and whether it lasts."""
    rows = world.rows("SELECT reason, expires_at FROM suppressions ORDER BY notification_type")
    return [(row["reason"], row["expires_at"] is None) for row in rows]


@pytest.mark.parametrize(("news", "reason"), [("hard bounce", "hard_bounce"), ("complaint", "complaint")])
def test_what_suppresses_does_so_for_that_tenant_and_channel_only(news: str, reason: str, world: World) -> None:
    world.add_tenant()
    bounce(world, news)

    assert end(send(world)) == ("skipped", f"suppressed: {reason}")
    assert end(send(world, address="ALICE@example.com")) == ("skipped", f"suppressed: {reason}"), "capitals hide nobody"
    assert end(send(world, address="bob@example.com"))[0] == "published"
    assert end(send(world, tenant=OTHER_TENANT))[0] == "published"
    assert end(send(world, channels=["sms"]))[0] == "published"
    assert len(world.email.accepted) == 3


@pytest.mark.parametrize("news", ["send", "delivery", "delay", "soft bounce", "odd bounce", "reject", "open"])
def test_what_does_not_suppress_lets_the_next_message_through(news: str, world: World) -> None:
    bounce(world, news)

    assert end(send(world))[0] == "published"
    assert world.count("suppressions") == 0


def test_five_soft_bounces_in_fourteen_days_suppress_for_seven(world: World) -> None:
    for _ in range(4):
        bounce(world)
        world.pass_time(3 * DAY)
    assert end(send(world))[0] == "published", "four are not enough"

    bounce(world)

    at = now(world)
    (row,) = world.rows("SELECT * FROM suppressions")
    assert (row["reason"], row["channel"], row["address"]) == ("soft_bounces", "email", ALICE)
    assert 7 * DAY - timedelta(minutes=1) < row["expires_at"] - at <= 7 * DAY
    assert end(send(world)) == ("skipped", "suppressed: soft_bounces")
    world.pass_time(7 * DAY - timedelta(minutes=2))
    assert end(send(world)) == ("skipped", "suppressed: soft_bounces")
    world.pass_time(timedelta(minutes=3))
    assert end(send(world))[0] == "published"


def test_five_soft_bounces_in_more_than_fourteen_days_suppress_nobody(world: World) -> None:
    for _ in range(8):
        bounce(world)
        world.pass_time(14 * DAY / 4 + SECOND)  # the fifth before this one is always a little too old

    assert world.count("suppressions") == 0


def test_an_installation_says_how_many_soft_bounces_suppress_and_for_how_long(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"LIMIT": "2", "WINDOW_DAYS": "1", "SUPPRESSION_DAYS": "3"}.items():
        monkeypatch.setenv(f"SOFT_BOUNCE_{name}", value)
    settings.settings.cache_clear()
    bounce(world)
    world.pass_time(DAY + SECOND)
    bounce(world)
    before = world.count("suppressions")

    bounce(world)

    (row,) = world.rows("SELECT * FROM suppressions")
    assert before == 0
    assert 3 * DAY - timedelta(minutes=1) < row["expires_at"] - now(world) <= 3 * DAY


def test_soft_bounces_are_counted_by_address_and_tenant_and_each_once(world: World) -> None:
    world.add_tenant()
    for n in range(4):
        bounce(world)
        bounce(world, tenant=OTHER_TENANT)
        bounce(world, address=f"other-{n}@example.com")
    route = send(world, address="bob@example.com")
    for _ in range(6):
        tell(world, route, "soft bounce")

    counted = world.one("SELECT count(*) FROM provider_events WHERE feedback = 'soft_bounced'")
    assert counted > 12, "hearing of one bounce at six moments is six events"
    assert [row["address"] for row in world.rows("SELECT address FROM suppressions")] == ["bob@example.com"]


def test_a_soft_bounce_that_is_redelivered_is_counted_once(world: World) -> None:
    route = send(world)
    told = heard("soft bounce", route | {"attempt_no": 1}, at=now(world))

    for _ in range(6):
        apply_events(world.worker, [told])
    apply_events(world.worker, [told] * 6)

    assert (world.count("provider_events"), world.count("suppressions")) == (1, 0)


def test_five_soft_bounces_in_one_batch_suppress_as_well(world: World) -> None:
    routes = [send(world) for _ in range(5)]

    apply_events(
        world.worker,
        [heard("soft bounce", route | {"attempt_no": 1}, message_id=str(n), at=now(world)) for n, route in enumerate(routes)],
    )

    assert reasons(world) == [("soft_bounces", False)]


def test_a_passing_suppression_comes_again_after_it_ended(world: World) -> None:
    for _ in range(5):
        bounce(world)
    world.pass_time(7 * DAY + SECOND)

    bounce(world)

    assert end(send(world)) == ("skipped", "suppressed: soft_bounces")
    assert world.count("suppressions") == 1


WEAKER = {
    "complaint": ["hard_bounce", "soft_bounces", "manual", "unsubscribe"],
    "hard_bounce": ["soft_bounces", "manual"],
    "manual": ["soft_bounces"],
}


@pytest.mark.parametrize(("strong", "weak"), [(strong, weak) for strong, those in WEAKER.items() for weak in those])
def test_a_lasting_suppression_is_never_weakened(strong: str, weak: str, world: World) -> None:
    add_suppression(world, reason=strong)

    add_suppression(world, reason=weak, lasts=7 * DAY if weak == "soft_bounces" else None)
    world.pass_time(8 * DAY)

    assert reasons(world) == [(strong, True)]
    assert end(send(world)) == ("skipped", f"suppressed: {strong}")


@pytest.mark.parametrize(
    ("before", "after"),
    [("soft_bounces", "hard_bounce"), ("soft_bounces", "complaint"), ("soft_bounces", "manual"),
     ("hard_bounce", "complaint"), ("manual", "complaint"), ("unsubscribe", "complaint")],
)  # fmt: skip
def test_a_stronger_reason_takes_the_place_of_a_weaker_one(before: str, after: str, world: World) -> None:
    add_suppression(world, reason=before, lasts=7 * DAY if before == "soft_bounces" else None)

    add_suppression(world, reason=after)

    assert reasons(world) == [(after, True)]


def test_a_complaint_outlives_every_event_that_follows(world: World) -> None:
    routes = [send(world) for _ in range(6)]
    tell(world, routes[0], "complaint")

    for route in routes:
        for news in ("soft bounce", "hard bounce", "delivery"):
            tell(world, route, news)
    world.pass_time(30 * DAY)

    assert reasons(world) == [("complaint", True)]
    assert end(send(world)) == ("skipped", "suppressed: complaint")


def test_a_complaint_that_commits_between_intake_and_claim_stops_the_message(world: World) -> None:
    earlier = send(world)
    world.accept(audience={"kind": "address", "email": ALICE})

    tell(world, earlier, "complaint")
    world.dispatch()

    assert sorted(row["status"] for row in world.routes()) == ["published", "skipped"]
    assert len(world.email.accepted) == 1


def test_a_complaint_that_commits_between_planning_and_delivery_stops_the_message(world: World) -> None:
    earlier = send(world)
    world.accept(audience={"kind": "address", "email": ALICE})
    plan_only(world)

    tell(world, earlier, "complaint")
    world.dispatch()

    later = world.rows("SELECT * FROM routes WHERE status <> 'published'")
    assert [end(row) for row in later] == [("skipped", "suppressed: complaint")]
    assert (len(world.email.accepted), world.count("outbox")) == (1, 0)


def test_a_complaint_stops_the_retry_of_what_failed_before(world: World) -> None:
    earlier = send(world)
    world.email.answers.append(Failure(FailureClass.TRANSIENT, "ServiceUnavailable", ""))
    failing = send(world)
    assert failing["status"] == "failed"

    tell(world, earlier, "complaint")
    world.pass_time(timedelta(minutes=5))
    world.dispatch()

    (route,) = world.rows("SELECT * FROM routes WHERE notification_id = %(id)s", id=failing["notification_id"])
    assert end(route) == ("skipped", "suppressed: complaint")
    assert len(world.email.accepted) == 1


def test_a_manual_suppression_of_a_phone_number_stops_sms_and_nothing_else(world: World) -> None:
    add_suppression(world, "+14155550100")

    assert end(send(world, channels=["sms"])) == ("skipped", "suppressed: manual")
    assert end(send(world))[0] == "published"


def test_a_manual_suppression_of_one_type_stops_that_type(world: World) -> None:
    add_suppression(world, notification_type="newsletter")

    assert end(send(world, type="newsletter")) == ("skipped", "suppressed: manual")
    assert end(send(world))[0] == "published"


def test_the_reason_that_holds_for_everything_is_told_before_that_of_a_type(world: World) -> None:
    add_suppression(world, notification_type="order.shipped", reason="unsubscribe")
    add_suppression(world, reason="complaint")

    assert end(send(world)) == ("skipped", "suppressed: complaint")


def test_what_has_ended_does_not_count_and_is_forgotten(world: World) -> None:
    add_suppression(world, reason="soft_bounces", lasts=DAY)
    assert end(send(world)) == ("skipped", "suppressed: soft_bounces")

    world.pass_time(DAY + SECOND)

    assert end(send(world))[0] == "published"
    with tenant_transaction(world.app, TENANT):
        assert suppressions.list_page(world.app, TENANT, channel=None, address=None, limit=10, after=None) == []
    apply(world)
    assert world.count("suppressions") == 0


def test_a_suppression_that_was_lifted_lets_messages_through(world: World) -> None:
    suppression_id = add_suppression(world)
    assert end(send(world))[0] == "skipped"

    with tenant_transaction(world.app, TENANT):
        suppressions.delete(world.app, TENANT, suppression_id)

    assert end(send(world))[0] == "published"


@pytest.fixture
def secret(world: World, monkeypatch: pytest.MonkeyPatch) -> bytes:
    arn = aws.client("secretsmanager").create_secret(Name="unsubscribe", SecretString="a secret of the test")["ARN"]
    monkeypatch.setenv("UNSUBSCRIBE_SECRET_ARN", arn)
    monkeypatch.setenv("PUBLIC_URL", "https://tocsin.example")
    settings.settings.cache_clear()
    secrets.forget()
    return b"a secret of the test"


def test_an_unsubscribe_suppresses_its_type_for_its_tenant_and_nothing_else(world: World, secret: bytes) -> None:
    world.add_tenant()
    token = sign(Subject(TENANT, address_hash(TENANT, "email", "Alice@Example.com"), "newsletter"), secret)

    assert [unsubscribe_link.unsubscribe(world.app, token) for _ in range(2)] == [True, True]

    assert end(send(world, type="newsletter")) == ("skipped", "suppressed: unsubscribe")
    assert end(send(world))[0] == "published"
    assert end(send(world, type="newsletter", tenant=OTHER_TENANT))[0] == "published"
    assert end(send(world, type="newsletter", address="bob@example.com"))[0] == "published"
    assert end(send(world, type="newsletter", channels=["sms"]))[0] == "published"
    assert world.count("suppressions") == 1


def test_the_link_in_a_message_unsubscribes_its_reader(world: World, secret: bytes) -> None:
    add_type(world, "newsletter", transactional=False)
    send(world, type="newsletter")
    (message,) = world.email.accepted
    token = message.headers["List-Unsubscribe"].removeprefix("<https://tocsin.example/u/").removesuffix(">")

    assert unsubscribe_link.unsubscribe(world.app, token)

    assert end(send(world, type="newsletter")) == ("skipped", "suppressed: unsubscribe")


def test_an_unsubscribe_does_not_weaken_a_complaint_about_everything(world: World, secret: bytes) -> None:
    add_suppression(world, reason="complaint")
    unsubscribe_link.unsubscribe(world.app, sign(Subject(TENANT, address_hash(TENANT, "email", ALICE), "order.shipped"), secret))

    assert end(send(world)) == ("skipped", "suppressed: complaint")


def test_a_token_of_somebody_else_suppresses_nobody(world: World, secret: bytes) -> None:
    token = sign(Subject(TENANT, address_hash(TENANT, "email", ALICE), "order.shipped"), b"another secret")

    assert not unsubscribe_link.unsubscribe(world.app, token)

    assert world.count("suppressions") == 0


def test_a_number_that_opted_out_is_not_written_to_again(world: World) -> None:
    world.sms.answers.append(Failure(FailureClass.PERMANENT, "OptedOut", "the number has opted out", opted_out=True))
    assert end(send(world, channels=["sms"])) == ("dead_letter", "permanent")

    assert end(send(world, channels=["sms"])) == ("skipped", "suppressed: opted_out")

    assert world.sms.calls == 1


def test_suppressions_are_seen_by_their_own_tenant_only(world: World) -> None:
    world.add_tenant()
    add_suppression(world)
    suppression_id = uuid7()
    with tenant_transaction(world.app, OTHER_TENANT):
        assert suppressions.list_page(world.app, OTHER_TENANT, channel=None, address=ALICE, limit=10, after=None) == []
        suppressions.delete(world.app, OTHER_TENANT, suppression_id)

    assert world.count("suppressions") == 1
