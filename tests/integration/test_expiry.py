"""Whatever a message waits for, when it expires that is recorded, on time and not at the end of the wait."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from tests.recipients import prefer
from tests.world import World
from tocsin.channels.outcomes import Failure, FailureClass

DOWN = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "later")
SUSPENDED = Failure(FailureClass.CONFIGURATION, "AccountSuspendedException", "")
LIVES = timedelta(minutes=2)


def in_quiet_hours(world: World) -> None:
    start, end = (datetime.now(UTC) + timedelta(hours=hours) for hours in (-1, 2))
    prefer(world, world.add_user(), quiet=f"{start:%H:%M}-{end:%H:%M}", timezone="UTC")


def before_a_retry(world: World) -> None:
    world.add_user()
    world.email.answers.append(DOWN)


def behind_a_stopped_lane(world: World) -> None:
    world.add_user()
    world.email.answers.append(SUSPENDED)


def in_a_full_hour(world: World) -> None:
    """A hundred emails in the last hour are enough for anybody."""
    world.admin.execute(
        """INSERT INTO notification_email_log (
               tenant_id, recipient_user_id, notification_id, route_id, generation, channel, notification_type, sent_at)
           SELECT tenant_id, id, gen_random_uuid(), 'email', 1, 'email', 'x', tocsin_now()
           FROM users, generate_series(1, 100) WHERE id = %s""",
        [world.add_user()],
    )


@pytest.mark.parametrize(
    ("arrange", "reason"),
    [
        (in_quiet_hours, "quiet_hours"),
        (in_a_full_hour, "dampened: hourly"),
        (before_a_retry, "retry"),
        (behind_a_stopped_lane, "lane_closed: AccountSuspendedException"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_it_expires_on_time_and_is_nudged_for_then(arrange: Callable[[World], None], reason: str, world: World) -> None:
    arrange(world)
    expires_at = datetime.now(UTC) + LIVES
    world.accept(expires_at=expires_at.isoformat(), retry={"base_ms": 3_600_000})
    assert world.work_queue is not None
    world.work_queue.clear()
    world.dispatch()
    calls = world.email.calls
    assert (world.route()["reason"], world.route()["next_attempt_at"]) == (reason, expires_at)
    assert [LIVES.total_seconds() - 30 <= nudge.delay_seconds <= LIVES.total_seconds() for nudge in world.nudges()] == [True]

    world.pass_time(LIVES)
    world.dispatch()

    assert (world.route()["status"], world.route()["reason"], world.email.calls) == ("skipped", "expired", calls)
