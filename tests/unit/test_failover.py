"""Which way each message takes: past what is closed, few by what hangs, one by what recovers, and a wait that ends."""

from datetime import timedelta

import pytest

from tests.unit.claims import NOW, a_claim, a_lane
from tests.world import Postbox
from tocsin import failover
from tocsin.channels import Way
from tocsin.failover import LONGEST_WAIT, Traffic, lanes_to_try, share_of
from tocsin.gate import Defer, End
from tocsin.store.lanes import Lane

FIRST, SECOND = Way(Postbox("ses", "ses:email")), Way(Postbox("sendgrid", "sendgrid:1"))
IN_USE = NOW + timedelta(seconds=90)

OPEN = None
COUNTING = a_lane(is_closed=False, state="failing")
HANGING = a_lane(is_closed=False, state="failing", timed_out=True)
SLOWED = a_lane(state="slowed")
STOPPED = a_lane()
BROKEN = a_lane(state="broken")
SILENT = a_lane(state="broken", timed_out=True)
OTHERS_TRY = a_lane(is_closed=False, probe_until=IN_USE)
WE_TRY = a_lane(is_closed=False, probe_until=IN_USE, is_ours=True)
WE_TRY_FOUR = a_lane(is_closed=False, state="slowed", probe_until=IN_USE, is_ours=True, probe_size=4)


def chosen(*lanes: Lane | None, count: int = 1, ways: tuple[Way, ...] = (FIRST,), share: int = 2) -> list[str]:
    """The lanes that so many messages go by; a wait is named by its reason."""
    known = {lane.lane: lane for lane in lanes if lane is not None}
    traffic = Traffic(known, share=share)
    answers = [traffic.choose(a_claim(), list(ways)) for _ in range(count)]
    return [one.channel.lane if isinstance(one, Way) else one.reason.split(":")[0] for one in answers]


@pytest.mark.parametrize("lane", [OPEN, COUNTING], ids=["open", "counting quick failures"])
def test_a_lane_that_works_takes_all(lane: Lane | None) -> None:
    assert chosen(lane, count=5) == ["ses:email"] * 5


@pytest.mark.parametrize("lane", [SLOWED, STOPPED, SILENT, OTHERS_TRY], ids=["slowed", "stopped", "silent", "others try"])
def test_past_a_lane_that_takes_none_the_next_way_is_used(lane: Lane) -> None:
    assert chosen(lane, count=3, ways=(FIRST, SECOND)) == ["sendgrid:1"] * 3


@pytest.mark.parametrize("lane", [SLOWED, STOPPED, SILENT], ids=["slowed", "stopped", "silent"])
def test_without_another_way_a_message_waits_until_the_lane_resumes_and_can_be_found_by_it(lane: Lane) -> None:
    decision = Traffic({lane.lane: lane}, share=1).choose(a_claim(), [FIRST])

    assert decision == Defer(f"lane_{lane.state}: AccountSuspendedException", lane.resume_at, "ses:email")


def test_a_lane_that_fails_quickly_is_used_where_it_is_the_only_one() -> None:
    assert chosen(BROKEN, count=3) == ["ses:email"] * 3
    assert chosen(BROKEN, count=3, ways=(FIRST, SECOND)) == ["sendgrid:1"] * 3


def test_a_lane_whose_last_answers_timed_out_gets_its_share_of_a_batch_and_the_rest_looks_again_soon() -> None:
    assert chosen(HANGING, count=5, share=2) == ["ses:email"] * 2 + ["lane_failing"] * 3
    traffic = Traffic({"ses:email": HANGING}, share=0)
    assert traffic.choose(a_claim(), [FIRST]) == Defer(
        "lane_failing: AccountSuspendedException", NOW + failover.LOOK_AGAIN, waits_for=None
    )


def test_what_exceeds_the_share_goes_by_the_next_way() -> None:
    assert chosen(HANGING, count=4, ways=(FIRST, SECOND)) == ["ses:email"] * 2 + ["sendgrid:1"] * 2


@pytest.mark.parametrize(("concurrency", "share"), [(1, 1), (3, 1), (4, 1), (16, 4), (100, 25)])
def test_the_share_is_a_quarter_of_the_senders_and_at_least_one(concurrency: int, share: int) -> None:
    assert share_of(concurrency) == share


def test_a_lane_that_recovers_is_tried_by_one_message_while_the_others_wait_for_what_becomes_of_it() -> None:
    assert chosen(WE_TRY, count=3) == ["ses:email"] + ["lane_stopped"] * 2
    decision = Traffic({"ses:email": OTHERS_TRY}, share=1).choose(a_claim(), [FIRST])
    assert decision == Defer("lane_stopped: AccountSuspendedException", IN_USE, "ses:email")


def test_a_slowed_lane_is_tried_by_as_many_as_it_took_well_before() -> None:
    assert chosen(WE_TRY_FOUR, count=6) == ["ses:email"] * 4 + ["lane_slowed"] * 2


def test_while_one_message_tries_the_preferred_lane_the_others_go_by_the_next_way() -> None:
    assert chosen(WE_TRY, count=3, ways=(FIRST, SECOND)) == ["ses:email", "sendgrid:1", "sendgrid:1"]


def test_of_several_closed_lanes_the_one_that_opens_first_is_waited_for() -> None:
    soon = a_lane("sendgrid:1")
    late = Lane("ses:email", "stopped", "why", soon.resume_at + timedelta(minutes=1), is_closed=True, updated_at=NOW)

    decision = Traffic({"ses:email": late, "sendgrid:1": soon}, share=1).choose(a_claim(), [FIRST, SECOND])

    assert isinstance(decision, Defer)
    assert (decision.until, decision.waits_for) == (soon.resume_at, "sendgrid:1")


def test_without_any_way_a_message_looks_again_and_waits_for_no_lane() -> None:
    assert Traffic({}, share=1).choose(a_claim(), []) == Defer("lane_stopped: no active provider", NOW + timedelta(minutes=5))


@pytest.mark.parametrize(("waited", "ends"), [(LONGEST_WAIT - timedelta(seconds=1), False), (LONGEST_WAIT, True)])
def test_a_lane_that_only_times_out_is_waited_for_a_day_and_no_longer(waited: timedelta, ends: bool) -> None:
    decision = Traffic({"ses:email": SILENT}, share=1).choose(a_claim(created_at=NOW - waited), [FIRST])

    assert isinstance(decision, End if ends else Defer)
    assert not isinstance(decision, End) or (decision.status, decision.reason) == ("dead_letter", "exhausted")


@pytest.mark.parametrize("lane", [STOPPED, SLOWED], ids=["stopped", "slowed"])
def test_what_an_operator_must_mend_is_waited_for_as_long_as_the_message_lives(lane: Lane) -> None:
    assert isinstance(Traffic({"ses:email": lane}, share=1).choose(a_claim(created_at=NOW - 3 * LONGEST_WAIT), [FIRST]), Defer)


@pytest.mark.parametrize(
    ("first", "second", "tried"),
    [
        (OTHERS_TRY, OPEN, ["ses:email"]),
        (OTHERS_TRY, a_lane("sendgrid:1", is_closed=False), ["sendgrid:1", "ses:email"]),
        (STOPPED, a_lane("sendgrid:1", is_closed=False), ["sendgrid:1"]),
        (HANGING, a_lane("sendgrid:1", is_closed=False), ["sendgrid:1"]),
        (OPEN, a_lane("sendgrid:1", is_closed=False), []),
        (COUNTING, a_lane("sendgrid:1", is_closed=False), []),
        (STOPPED, OPEN, []),
    ],
    ids=["preferred", "both", "second", "behind one that hangs", "behind an open one", "behind one that counts", "closed"],
)
def test_only_lanes_that_recover_and_are_wanted_are_asked_for(first: Lane | None, second: Lane | None, tried: list[str]) -> None:
    known = {lane.lane: lane for lane in (first, second) if lane}

    assert lanes_to_try([[FIRST, SECOND]], known) == tried
