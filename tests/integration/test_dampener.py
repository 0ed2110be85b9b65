"""The storm dampener: one email per person and thread in ten minutes, a hundred per person in an hour, and nothing is lost."""

import re
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest

from tests.cancelling import cancel
from tests.content import add_suppression, add_template, add_type
from tests.functions.doors import Api
from tests.recipients import (
    THREAD,
    comment,
    digests,
    end,
    fan_out,
    forget_preference,
    now,
    prefer,
    record,
    route_events,
    route_of,
    send,
    set_clock,
    subjects,
)
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.key_format import SCOPES
from tocsin.channels.outcomes import Accepted, Failure, FailureClass
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.intake.accept_intents import Asked
from tocsin.outbox.dispatch import dispatch
from tocsin.store import suppressions

MINUTE = timedelta(minutes=1)
WINDOW = timedelta(minutes=10)
PAST_WINDOW = WINDOW + timedelta(seconds=1)
TRANSIENT = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "")
PERMANENT = Failure(FailureClass.PERMANENT, "MessageRejected", "no")
AMBIGUOUS = Failure(FailureClass.AMBIGUOUS, "ReadTimeout", "")
SENT = ("published", "")


def news(world: World, title: str | int = "Shipped", **intent: Any) -> dict[str, Any]:
    """Send one email about the thread and return its route."""
    return send(world, **({"thread": THREAD, "payload": {"title": str(title), "message": "m"}} | intent))


def in_order(asked: list[Asked]) -> list[Asked]:
    """With ids in the order of the list: those of one millisecond have none of their own."""
    ids = sorted(uuid7() for _ in asked)
    return [replace(one, notification_id=notification_id) for one, notification_id in zip(asked, ids, strict=True)]


def all_at_once(world: World, *titles: object, **intent: Any) -> None:
    """Send that many emails about the thread in one batch of one worker."""
    words = [{"thread": THREAD, "payload": {"title": str(title), "message": "m"}} for title in titles]
    world.try_accept(*in_order([world.asked(**(one | intent)) for one in words]))
    world.dispatch()


def told_by(route: dict[str, Any]) -> UUID:
    """The digest that a held route names as the one that tells of it."""
    match = re.fullmatch(r"dampened: told by digest ([0-9a-f-]{36})", route["reason"])
    assert match, end(route)
    assert route["status"] == "skipped"
    return UUID(match[1])


def read_the_thread(world: World) -> None:
    world.admin.execute("UPDATE notifications SET unread = false, read_at = tocsin_now()")


def only_plan(world: World, *asked: Asked) -> None:
    """Plan these and deliver nothing: the worker's time is over when its plans are made."""
    times = iter([timedelta(seconds=30)])
    planner = replace(world.worker_policy(), remaining=lambda: next(times, timedelta(0)))
    dispatch(world.worker, [one.notification_id for one in asked], planner)


def work_of(world: World, asked: Asked) -> UUID:
    outbox_id: UUID = route_of(world, asked.notification_id)["outbox_id"]
    return outbox_id


def drain(world: World) -> None:
    """Let windows pass until nothing waits any more."""
    for _ in range(10):
        if not world.due():
            return
        world.pass_time(16 * MINUTE)
        world.dispatch()
    raise AssertionError("something still waits")


def assert_each_is_told_by_the_digest_it_names(world: World) -> None:
    """Every held title stands in the email of its digest, and each digest counts as many as name it."""
    held = world.rows(
        """
        SELECT routes.*, records.payload_json ->> 'title' AS title
        FROM routes JOIN records USING (notification_id)
        WHERE routes.reason LIKE 'dampened: told by digest%%'
        """
    )
    sent = {message.tags["tocsin_route"].split("_")[0]: message.content for message in world.email.accepted}
    named = Counter(str(told_by(route)) for route in held)
    assert {str(one["notification_id"]) for one in digests(world)} == set(named), "a digest for nothing, or none for something"
    for route in held:
        digest = sent[str(told_by(route))]
        assert f"- {route['title']}" in digest.text.split("\n"), f"{route['title']} is not in {digest.text!r}"
    for digest_id, count in named.items():
        assert sent[digest_id].title.startswith(f"{count} more update"), sent[digest_id].title


def lines(world: World, n: int = -1) -> list[str]:
    """What an email lists, without its first line."""
    return world.email.accepted[n].content.text.split("\n")[2:]


def test_of_several_about_one_thread_the_first_is_sent_and_the_others_wait_for_a_digest(world: World) -> None:
    world.add_user()

    routes = [news(world, n) for n in range(4)]

    assert end(routes[0]) == SENT
    (digest,) = digests(world)
    assert {told_by(route) for route in routes[1:]} == {digest["notification_id"]}
    assert (digest["status"], digest["payload_json"]["count"]) == ("pending", 3)
    assert (world.email.calls, world.count("attempts")) == (1, 1)


def test_it_is_the_same_in_one_batch(world: World) -> None:
    world.add_user()

    all_at_once(world, 0, 1, 2, 3)

    (digest,) = digests(world)
    held = [route for route in world.routes() if route["status"] == "skipped"]
    assert [told_by(route) for route in held] == [digest["notification_id"]] * 3
    assert digest["payload_json"]["missed"] == ["1", "2", "3"]
    assert subjects(world) == ["0"]


def test_the_thread_is_told_of_again_after_ten_minutes(world: World) -> None:
    world.add_user()
    news(world)

    world.pass_time(PAST_WINDOW)

    assert end(news(world)) == SENT
    assert digests(world) == []


def test_nine_minutes_later_is_too_soon(world: World) -> None:
    world.add_user()
    news(world)

    world.pass_time(9 * MINUTE)

    assert news(world)["status"] == "skipped"


def test_other_threads_people_tenants_and_addresses_are_not_concerned(world: World) -> None:
    world.add_tenant()
    world.add_user()
    world.add_user("bob")
    world.add_user(tenant=OTHER_TENANT)
    news(world)
    to_address = {"kind": "address", "email": "alice@example.com"}

    ends = [
        end(news(world, thread={"kind": "pr", "id": "8"})),
        end(news(world, thread={"kind": "issue", "id": "7"})),
        end(news(world, thread=None)),
        end(news(world, thread=None)),
        end(news(world, audience={"kind": "users", "user_ids": ["bob"]})),
        end(news(world, tenant=OTHER_TENANT)),
        end(news(world, audience=to_address)),
        end(news(world, audience=to_address)),
    ]

    assert ends == [SENT] * 8
    assert news(world)["status"] == "skipped"


def test_sms_push_and_the_inbox_are_not_dampened(world: World) -> None:
    world.add_device(world.add_user(phone="+14155550100"))

    all_at_once(world, *range(5), channels=["email", "sms", "push", "in_app"])

    published = Counter(route["channel"] for route in world.routes() if end(route) == SENT)
    assert published == {"email": 1, "sms": 5, "push": 5, "in_app": 5}
    (row,) = world.inbox()
    assert (row["event_count"], row["unread"]) == (5, True)
    assert world.email.calls == 1


def test_the_sandbox_is_not_dampened_and_dampens_nobody(world: World) -> None:
    world.add_user()

    ends = [end(news(world, mode=mode)) for mode in ("test", "test", "live", "test")]

    assert ends == [SENT] * 4
    assert news(world)["status"] == "skipped"


def test_events_are_dampened_as_intents_are(world: World) -> None:
    world.add_user()
    route_events(world)
    record(world, *[comment(n) for n in range(5)])

    dispatch(world.worker, fan_out(world), world.worker_policy())

    assert subjects(world) == ["Comment 0"]
    (digest,), (row,) = digests(world), world.inbox()
    assert (digest["payload_json"]["count"], row["event_count"]) == (4, 5)


def test_an_email_that_failed_for_good_does_not_close_its_thread(world: World) -> None:
    world.add_user()
    world.email.answers.append(PERMANENT)

    ends = [end(news(world)), end(news(world))]

    assert ends == [("dead_letter", "permanent"), SENT]


def test_an_email_that_waits_for_its_retry_does(world: World) -> None:
    world.add_user()
    world.email.answers.append(TRANSIENT)

    first, second = news(world, "first"), news(world, "second")
    world.pass_time(MINUTE)
    world.dispatch()

    assert (end(first), second["status"]) == (("failed", "retry"), "skipped")
    assert subjects(world) == ["first"]


@pytest.mark.parametrize("failure", [TRANSIENT, AMBIGUOUS], ids=["failed", "answer lost"])
def test_a_retry_that_comes_after_the_window_keeps_its_distance_as_well(failure: Failure, world: World) -> None:
    """Its reservation is as old as the first try; others were told of the thread since."""
    world.add_user()
    sent_at: list[datetime] = []

    def look_at_the_clock(message: object) -> Accepted:
        sent_at.append(now(world))
        return Accepted(f"m-{len(sent_at)}")

    world.email.answers.extend([failure, *[look_at_the_clock] * 5])
    news(world, "first", retry={"base_ms": 900_000})
    for _ in range(20):
        world.pass_time(2 * MINUTE)
        if world.now == 12 * MINUTE:
            news(world, "second")
        world.dispatch()

    assert 1 <= len(sent_at) <= 3
    assert all(later - earlier >= WINDOW for earlier, later in pairwise(sent_at)), sent_at
    assert world.count("outbox") == 0


def test_the_hundred_and_first_email_of_an_hour_waits_and_none_is_lost(world: World) -> None:
    world.add_user()
    world.add_user("bob")
    start = now(world)
    for size in (60, 60):
        all_at_once(world, *range(size), thread=None)

    waiting = [route for route in world.routes() if route["status"] != "published"]
    sent_in_the_hour = world.email.calls
    to_bob = end(news(world, thread=None, audience={"kind": "users", "user_ids": ["bob"]}))
    world.pass_time(timedelta(minutes=58))
    world.dispatch()
    sent_before_its_end = world.email.calls
    for _ in range(3):
        world.pass_time(timedelta(minutes=5))
        world.dispatch()

    assert [end(route) for route in waiting] == [("pending", "dampened: hourly")] * 20
    assert {(route["attempt_count"], route["deferred_reason"]) for route in waiting} == {(0, "dampened: hourly")}
    assert all(route["next_attempt_at"] >= start + timedelta(hours=1) for route in waiting)
    assert (sent_in_the_hour, to_bob, sent_before_its_end) == (100, SENT, 101)
    assert (world.email.calls, world.count("outbox")) == (121, 0)
    assert {route["status"] for route in world.routes()} == {"published"}


def test_an_hour_is_any_hour_and_not_one_of_the_clock(world: World) -> None:
    set_clock(world, "2026-11-15T12:30:00+00:00")
    world.add_user()
    all_at_once(world, *range(50), thread=None)
    set_clock(world, "2026-11-15T12:50:00+00:00")
    all_at_once(world, *range(50), thread=None)

    set_clock(world, "2026-11-15T13:20:00+00:00")
    too_soon = news(world, thread=None)
    set_clock(world, "2026-11-15T13:32:00+00:00")
    world.dispatch()

    assert end(too_soon) == ("pending", "dampened: hourly")
    room_at = datetime.fromisoformat("2026-11-15T13:30:00+00:00")
    assert room_at <= too_soon["next_attempt_at"] <= room_at + 2 * MINUTE, "when the oldest of them is an hour old"
    assert end(route_of(world, too_soon["notification_id"])) == SENT


def test_a_digest_is_a_record_of_its_own_that_can_be_asked_for(world: World) -> None:
    world.add_user()
    api = Api(world.add_key(*SCOPES))
    all_at_once(world, "first", "second", "third")
    (held, *_) = [route for route in world.routes() if route["status"] == "skipped"]

    before = api.get(f"/v1/notifications/{told_by(held)}").json
    world.pass_time(PAST_WINDOW)
    world.dispatch()
    after = api.get(f"/v1/notifications/{told_by(held)}").json

    assert (before["audience"], before["thread"], before["type"]) == ({"kind": "digest"}, THREAD, "order.shipped")
    assert (before["status"], after["status"]) == ("in_progress", "finished")
    assert before["payload"] == {"count": 2, "missed": ["second", "third"], "thread": THREAD}
    (route,) = after["routes"]
    assert (route["channel"], route["status"], route["recipient"]) == ("email", "published", "user:alice")


def test_a_digest_goes_out_once_after_the_window_and_tells_how_many_and_what(world: World) -> None:
    world.add_user()
    for title in ("first", "second", "third", "fourth"):
        news(world, title)
    world.pass_time(9 * MINUTE)
    world.dispatch()
    before_the_window_ends = subjects(world)

    world.pass_time(MINUTE + timedelta(seconds=5))
    for _ in range(3):
        world.dispatch()

    assert before_the_window_ends == ["first"]
    assert subjects(world) == ["first", "3 more updates: fourth"]
    message = world.email.accepted[-1]
    assert message.email == "alice@example.com"
    assert message.content.text.startswith("3 more updates since the last email about this:\n")
    assert lines(world) == ["- second", "- third", "- fourth"]
    assert world.count("outbox") == 0


def test_the_end_of_the_window_is_nudged(world: World) -> None:
    world.add_user()
    all_at_once(world, "first", "second", "third")

    (digest,) = digests(world)
    (delay,) = [nudge.delay_seconds for nudge in world.nudges() if digest["outbox_id"] in nudge.ids]
    assert 595 <= delay <= 601
    due = world.one("SELECT due_at FROM outbox")
    assert digest["send_at"] == digest["next_attempt_at"] == due


def test_of_one_more_update_it_says_so(world: World) -> None:
    world.add_user()
    all_at_once(world, "first", "second")

    world.pass_time(PAST_WINDOW)
    world.dispatch()

    assert subjects(world)[1:] == ["1 more update: second"]


@pytest.mark.parametrize("batch", [1, 5, 30], ids=lambda size: f"{size} at a time")
def test_a_digest_lists_twenty_titles_and_counts_the_rest(batch: int, world: World) -> None:
    world.add_user()
    news(world, "first")
    for start in range(0, 30, batch):
        all_at_once(world, *range(start, start + batch))

    world.pass_time(PAST_WINDOW)
    world.dispatch()

    assert subjects(world)[1].startswith("30 more updates")
    assert lines(world) == [*(f"- {n}" for n in range(20)), "… and 10 more"]


@pytest.mark.parametrize(
    ("channels", "is_read", "ends"),
    [
        (["email", "in_app"], True, ("skipped", "read_meanwhile")),
        (["email", "in_app"], False, SENT),
        (["email"], False, SENT),
    ],
    ids=["read", "unread", "no inbox row"],
)
def test_a_digest_is_for_those_who_have_not_read_it_in_the_inbox(
    channels: list[str], is_read: bool, ends: tuple[str, str], world: World
) -> None:
    world.add_user()
    all_at_once(world, "first", "second", channels=channels)

    if is_read:
        read_the_thread(world)
    world.pass_time(PAST_WINDOW)
    world.dispatch()

    (digest,) = digests(world)
    assert end(digest) == ends
    assert len(subjects(world)) == (2 if ends == SENT else 1)


def test_having_read_another_thread_or_somebody_else_having_read_it_does_not_stop_a_digest(world: World) -> None:
    world.add_user()
    world.add_user("bob")
    everyone = {"kind": "users", "user_ids": ["alice", "bob"]}
    all_at_once(world, "first", "second", channels=["email", "in_app"], audience=everyone)
    all_at_once(world, "other", channels=["in_app"], thread={"kind": "pr", "id": "8"})

    world.admin.execute(
        """
        UPDATE notifications SET unread = false, read_at = tocsin_now() FROM users
        WHERE users.id = notifications.user_id AND (users.external_id = 'bob' OR thread_id = '8')
        """
    )
    world.pass_time(PAST_WINDOW)
    world.dispatch()

    ends = {row["route_id"]: end(row) for row in digests(world)}
    assert sorted(ends.values()) == [SENT, ("skipped", "read_meanwhile")]
    assert [message.email for message in world.email.accepted[2:]] == ["alice@example.com"]


def test_news_after_the_reading_make_it_unread_again(world: World) -> None:
    world.add_user()
    channels = ["email", "in_app"]
    all_at_once(world, "first", "second", channels=channels)
    read_the_thread(world)

    all_at_once(world, "third", channels=channels)
    world.pass_time(PAST_WINDOW)
    world.dispatch()

    assert subjects(world)[1:] == ["2 more updates: third"]


def test_what_comes_after_the_window_joins_the_digest_that_has_not_gone_yet(world: World) -> None:
    world.add_user()
    all_at_once(world, "first", "second")
    world.pass_time(PAST_WINDOW)
    (digest,) = digests(world)
    asked = world.accept(thread=THREAD, payload={"title": "third"})

    dispatch(world.worker, [asked.notification_id], world.worker_policy())
    assert subjects(world) == ["first"], "no second email beside the digest"
    world.dispatch()

    assert told_by(route_of(world, asked.notification_id)) == digest["notification_id"]
    assert subjects(world)[1:] == ["2 more updates: third"]
    assert lines(world) == ["- second", "- third"]


@pytest.mark.parametrize("is_older", [False, True], ids=["newer than the digest", "older than the digest"])
def test_what_a_worker_takes_on_together_with_the_digest_is_told_by_the_one_it_names(is_older: bool, world: World) -> None:
    world.add_user()
    titles = ("first", "second", "third")
    first, second, third = in_order([world.asked(thread=THREAD, payload={"title": title}) for title in titles])
    world.try_accept(first, second, *([third] if is_older else []))
    only_plan(world, first, second, third)
    dispatch(world.worker, [work_of(world, first), work_of(world, second)], world.worker_policy())
    world.pass_time(PAST_WINDOW)
    if not is_older:
        world.try_accept(third)
        only_plan(world, third)

    world.dispatch()
    drain(world)

    assert_each_is_told_by_the_digest_it_names(world)
    assert subjects(world)[0] == "first"


def test_a_digest_that_its_template_cannot_tell_once_it_has_grown_is_told_in_the_built_in_words(world: World) -> None:
    world.add_user()
    add_template(world, "digest", body="{% if count > 1 %}{{ count | divided_by: 0 }}{% endif %}{{ count }}")
    titles = ("first", "second", "third")
    first, second, third = in_order([world.asked(thread=THREAD, payload={"title": title}) for title in titles])
    world.try_accept(first, second, third)
    only_plan(world, first, second, third)
    dispatch(world.worker, [work_of(world, first), work_of(world, second)], world.worker_policy())
    world.pass_time(PAST_WINDOW)

    world.dispatch()

    assert subjects(world) == ["first", "2 more updates: third"]
    assert lines(world) == ["- second", "- third"]


def test_after_a_digest_a_new_window_begins(world: World) -> None:
    world.add_user()
    all_at_once(world, "first", "second")
    world.pass_time(PAST_WINDOW)
    world.dispatch()

    held = news(world, "third")
    world.pass_time(PAST_WINDOW)
    world.dispatch()
    world.pass_time(PAST_WINDOW)
    at_last = news(world, "fourth")

    one, other = digests(world)
    assert told_by(held) == other["notification_id"] != one["notification_id"]
    assert end(at_last) == SENT
    assert subjects(world) == ["first", "1 more update: second", "1 more update: third", "fourth"]


def test_a_digest_whose_email_fails_for_now_keeps_its_count_and_later_news_are_the_next_ones(world: World) -> None:
    world.add_user()
    all_at_once(world, "first", "second", "third")
    world.pass_time(PAST_WINDOW)
    world.email.answers.append(TRANSIENT)
    world.dispatch()
    (failed,) = digests(world)

    news(world, "fourth")
    world.pass_time(MINUTE)
    world.dispatch()
    drain(world)

    assert end(failed) == ("failed", "retry")
    assert subjects(world) == ["first", "2 more updates: third", "1 more update: fourth"]
    assert_each_is_told_by_the_digest_it_names(world)


def test_a_digest_whose_worker_died_keeps_its_count(world: World) -> None:
    world.add_user()
    all_at_once(world, "first", "second", "third")
    world.pass_time(PAST_WINDOW)

    def die(message: object) -> Accepted:
        raise KeyboardInterrupt

    world.email.answers.append(die)
    with pytest.raises(KeyboardInterrupt):
        world.dispatch()
    drain(world)

    assert subjects(world) == ["first", "2 more updates: third"]
    assert_each_is_told_by_the_digest_it_names(world)


def _lift(world: World, suppression_id: UUID) -> None:
    with tenant_transaction(world.app, TENANT):
        suppressions.delete(world.app, TENANT, suppression_id)


def test_a_digest_to_a_suppressed_address_ends_and_does_not_swallow_what_comes_later(world: World) -> None:
    world.add_user()
    all_at_once(world, "first", "second")
    suppression_id = add_suppression(world)
    world.pass_time(PAST_WINDOW)
    world.dispatch()

    _lift(world, suppression_id)
    later = news(world, "third")

    assert [end(one) for one in digests(world)] == [("skipped", "suppressed: manual")]
    assert end(later) == SENT


def test_a_digest_that_is_not_wanted_any_more_ends_and_does_not_swallow_what_comes_later(world: World) -> None:
    alice = world.add_user()
    all_at_once(world, "first", "second")
    prefer(world, alice, enabled=False)
    world.pass_time(PAST_WINDOW)
    world.dispatch()

    forget_preference(world, alice)
    later = news(world, "third")

    assert [end(one) for one in digests(world)] == [("skipped", "preference: email off")]
    assert end(later) == SENT


def test_a_digest_that_was_read_meanwhile_does_not_swallow_what_comes_later(world: World) -> None:
    world.add_user()
    all_at_once(world, "first", "second", channels=["email", "in_app"])
    read_the_thread(world)
    world.pass_time(PAST_WINDOW)
    world.dispatch()

    later = news(world, "third")

    assert end(later) == SENT


def test_a_digest_that_was_cancelled_does_not_swallow_what_comes_later(world: World) -> None:
    world.add_user()
    all_at_once(world, "first", "second")
    (digest,) = digests(world)
    cancelled = cancel(world.app, TENANT, digest["notification_id"])

    soon = [news(world, "third"), news(world, "fourth")]
    drain(world)

    assert cancelled is not None
    assert cancelled.stopped == 1
    (next_one,) = {told_by(route) for route in soon}
    assert next_one != digest["notification_id"]
    assert subjects(world) == ["first", "2 more updates: fourth"]


def test_a_digest_that_failed_for_good_does_not_swallow_what_comes_later(world: World) -> None:
    world.add_user()
    all_at_once(world, "first", "second")
    world.pass_time(PAST_WINDOW)
    world.email.answers.append(PERMANENT)
    world.dispatch()

    later = news(world, "third")

    assert [end(one) for one in digests(world)] == [("dead_letter", "permanent")]
    assert end(later) == SENT


def test_a_tenants_own_digest_template_is_used_in_the_recipients_language(world: World) -> None:
    world.add_user()
    world.add_user("bruno")
    world.admin.execute("UPDATE users SET locale = 'de-CH' WHERE external_id = 'bruno'")
    loop = "{% for one in missed %}[{{ one }}]{% endfor %}"
    add_template(world, "digest", subject="Noch {{ count }} in {{ thread.id }}", body=loop, locale="de")
    add_template(world, "digest", subject="{{ count }} of {{ thread.kind }}", body=loop)
    everyone = {"kind": "users", "user_ids": ["alice", "bruno"]}
    all_at_once(world, "first", "second", "third", audience=everyone)

    world.pass_time(PAST_WINDOW)
    world.dispatch()

    sent = {message.email: message.content for message in world.email.accepted[2:]}
    assert (sent["alice@example.com"].title, sent["bruno@example.com"].title) == ("2 of pr", "Noch 2 in 7")
    assert "[second][third]" in sent["bruno@example.com"].text


def test_another_tenants_digest_template_is_not_used(world: World) -> None:
    world.add_tenant()
    world.add_user()
    add_template(world, "digest", tenant=OTHER_TENANT)
    all_at_once(world, "first", "second")

    world.pass_time(PAST_WINDOW)
    world.dispatch()

    assert subjects(world)[1:] == ["1 more update: second"]


def test_quiet_hours_defer_a_digest_and_what_comes_at_night_joins_it(world: World) -> None:
    set_clock(world, "2026-11-15T21:55:00+00:00")
    prefer(world, world.add_user(), quiet="22:00-07:00")
    all_at_once(world, "first", "second")
    set_clock(world, "2026-11-15T22:06:00+00:00")
    world.dispatch()
    (deferred,) = digests(world)
    at_night = news(world, "third")

    set_clock(world, "2026-11-16T07:02:00+00:00")
    world.dispatch()
    drain(world)

    assert end(deferred) == ("pending", "quiet_hours")
    assert end(at_night) == ("pending", "quiet_hours")
    assert subjects(world)[0] == "first"
    assert_each_is_told_by_the_digest_it_names(world)
    assert "third" in "".join(message.content.text for message in world.email.accepted[1:])


def test_a_digest_counts_against_the_cap_as_an_email(world: World) -> None:
    set_clock(world, "2026-11-15T12:00:00+00:00")
    prefer(world, world.add_user(), frequency_cap=2)
    all_at_once(world, "first", "second")
    world.pass_time(PAST_WINDOW)
    world.dispatch()

    capped = news(world, "third")

    assert len(subjects(world)) == 2
    assert end(capped) == ("skipped", "frequency_cap: 2 a day")


def test_what_is_held_back_uses_no_place_of_the_cap(world: World) -> None:
    set_clock(world, "2026-11-15T12:00:00+00:00")
    prefer(world, world.add_user(), frequency_cap=2)
    all_at_once(world, *range(6))

    assert end(news(world, "other", thread={"kind": "pr", "id": "8"})) == SENT


def test_a_digest_is_of_the_type_that_was_held_first_and_keeps_to_its_rules(world: World) -> None:
    alice = world.add_user()
    add_type(world, "chatter")
    news(world, "first")
    news(world, "second", type="chatter")
    prefer(world, alice, of_type="chatter", enabled=False)

    world.pass_time(PAST_WINDOW)
    world.dispatch()

    (digest,) = digests(world)
    assert (digest["notification_type"], end(digest)) == ("chatter", ("skipped", "preference: email off"))


def test_two_threads_of_one_person_have_a_digest_each(world: World) -> None:
    world.add_user()
    other = {"kind": "pr", "id": "8"}
    places = [(n, thread) for n in range(3) for thread in (THREAD, other)]
    asked = in_order([world.asked(thread=thread, payload={"title": f"{thread['id']}-{n}"}) for n, thread in places])
    world.try_accept(*asked)
    world.dispatch()

    world.pass_time(PAST_WINDOW)
    world.dispatch()

    assert sorted(subjects(world)) == ["2 more updates: 7-2", "2 more updates: 8-2", "7-0", "8-0"]
    assert_each_is_told_by_the_digest_it_names(world)
