"""The course of a batch: whose turn it is, and which lane takes no more."""

from uuid import UUID

import pytest

from tests.unit.claims import NOW, a_claim
from tests.world import Postbox
from tocsin.channels.outcomes import Accepted, Failure, FailureClass, NotSent, Outcome
from tocsin.channels.ways import Way
from tocsin.content.plain import Content
from tocsin.content.render import Letterhead
from tocsin.delivery.prepare import Ready
from tocsin.delivery.send import BREAKS_AFTER, Course
from tocsin.store.rows import Opened

SILENT = Failure(FailureClass.AMBIGUOUS, "ReadTimeoutError", "", timed_out=True)
DOWN = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "")
THROTTLED = Failure(FailureClass.THROTTLED, "Throttled", "")


def course(**lanes: int) -> Course:
    """With so many deliveries for each lane."""
    content = Content("title", "text", "")
    return Course(
        [
            (Ready(a_claim(), Way(Postbox(name, name)), content, Letterhead(), {}, None), Opened(UUID(int=n), 1, 1, NOW))
            for name, count in lanes.items()
            for n in range(count)
        ]
    )


def taken(batch: Course) -> str | None:
    one = batch.take()
    return one[0].channel.lane if one else None


def test_whoever_is_free_takes_from_the_lane_with_the_fewest_under_way() -> None:
    batch = course(sms=5, email=3)

    assert [taken(batch) for _ in range(4)] == ["sms", "email", "sms", "email"]
    batch.note("email", Accepted("m-1"))
    assert taken(batch) == "email", "two SMS are under way and one email"


def test_a_lane_that_hangs_gets_the_senders_that_nobody_else_needs() -> None:
    batch = course(sms=3, email=1)
    taken(batch), taken(batch)
    batch.note("email", Accepted("m-1"))

    assert [taken(batch) for _ in range(3)] == ["sms", "sms", None]


@pytest.mark.parametrize(
    ("outcomes", "closed"),
    [
        ([SILENT] * (BREAKS_AFTER - 1), False),
        ([SILENT] * BREAKS_AFTER, True),
        ([SILENT] * (BREAKS_AFTER - 1) + [Accepted("m-1"), SILENT], False),
        ([SILENT] * (BREAKS_AFTER - 1) + [NotSent("quiet_hours"), SILENT], True),
        ([DOWN] * 10, False),
        ([THROTTLED], True),
    ],
    ids=["too few", "in a row", "an answer between", "one that was not sent between", "quick failures", "told off"],
)
def test_a_lane_that_is_told_off_or_only_times_out_takes_no_more(outcomes: list[Outcome], closed: bool) -> None:
    batch = course(sms=20)
    for outcome in outcomes:
        batch.take()
        batch.note("sms", outcome)

    assert ("sms" in batch.closed) is closed
