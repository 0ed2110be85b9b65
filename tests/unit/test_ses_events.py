"""Reading what providers tell later: every kind of event, in any wrapping; and nothing, however hostile, but Unreadable."""

import copy
import json
from collections.abc import Callable
from datetime import UTC, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ses_events import NEWS, NOON, event, through_sns
from tocsin.feedback.ses_events import Unreadable, read_queue_message
from tocsin.store.rows import RANKS, Named, ProviderEvent

NOTIFICATION = "01980000-0000-7000-8000-000000000001"
TAGS = {"tocsin_route": f"{NOTIFICATION}_email-01980000-0000-7000-8000-000000000002", "tocsin_attempt": "1-3"}
NAMED = Named(UUID(NOTIFICATION), "email-01980000-0000-7000-8000-000000000002", 1, 3)
# What each kind means: our word for it, the rank in the register, whether it suppresses, and what is worth keeping.
MEANING = {
    "send": ("send", "none", False, ""),
    "delivery": ("delivery", "delivered", False, ""),
    "delay": ("deliverydelay", "delayed", False, "MailboxFull"),
    "hard bounce": ("bounce", "hard_bounced", True, "Permanent General"),
    "soft bounce": ("bounce", "soft_bounced", False, "Transient MailboxFull"),
    "odd bounce": ("bounce", "soft_bounced", False, "Undetermined Undetermined"),
    "complaint": ("complaint", "complained", True, "abuse"),
    "bare complaint": ("complaint", "complained", True, ""),
    "reject": ("reject", "hard_bounced", False, "Bad content"),
    "open": ("open", "none", False, ""),
    "click": ("click", "none", False, ""),
    "rendering failure": ("rendering failure", "none", False, ""),
    "subscription": ("subscription", "none", False, ""),
}


@pytest.mark.parametrize("wrap", [through_sns, json.dumps], ids=["in SNS's envelope", "raw"])
@pytest.mark.parametrize("news", NEWS)
def test_every_kind_of_event_is_read_for_what_it_means(news: str, wrap: Callable[[Any], str]) -> None:
    read = read_queue_message(wrap(event(news, TAGS)))

    assert (read.kind, read.feedback, read.suppresses, read.detail) == MEANING[news]
    assert (read.provider, read.provider_message_id, read.named, read.occurred_at) == ("ses", "m-1", NAMED, NOON)


def test_identity_feedback_which_names_its_kind_otherwise_is_read_too() -> None:
    content = event("complaint", TAGS)
    content["notificationType"] = content.pop("eventType")

    assert read_queue_message(json.dumps(content)).feedback == "complained"


def test_an_event_has_the_same_key_however_it_comes_and_another_one_when_it_is_another_event() -> None:
    keys = [
        read_queue_message(wrap(event(news, TAGS, message_id=message_id, at=at))).key
        for news in NEWS
        for message_id in ("m-1", "m-2")
        for at in (NOON, NOON + timedelta(seconds=1))
        for wrap in (json.dumps, through_sns)
    ]

    assert keys[::2] == keys[1::2], "the wrapping makes no difference"
    assert len(set(keys)) == len(keys) // 2
    assert {len(key) for key in keys} == {32}


@pytest.mark.parametrize("zone", ["Z", "+00:00", "", "-04:00"])
def test_a_time_is_understood_in_each_of_its_spellings(zone: str) -> None:
    content = event("delivery", TAGS)
    content["delivery"]["timestamp"] = ("2026-03-01T08:00:00.000" if zone == "-04:00" else "2026-03-01T12:00:00.000") + zone

    assert read_queue_message(json.dumps(content)).occurred_at == NOON


@pytest.mark.parametrize(
    "body",
    [
        "", " ", "{", "null", "true", "7", '"Bounce"', "[]", "[[]]", "{}", "\ud800", "\x00", "NaN", "9" * 5_000, "[" * 100_000,
        '{"a":' * 50_000, '{"Type": "Notification"}', '{"Type": "Notification", "Message": null}',
        '{"Type": "Notification", "Message": {}}', '{"Type": "Notification", "Message": "[]"}',
        '{"Type": "Notification", "Message": "not JSON"}', '{"Type": "Notification", "Message": "' + "[" * 50_000 + '"}',
        '{"Type": "SubscriptionConfirmation", "SubscribeURL": "https://example.com/"}', '{"eventType": "Bounce"}',
        '{"eventType": "Bounce", "mail": null}', '{"eventType": "Bounce", "mail": []}', '{"eventType": "Bounce", "mail": {}}',
        '{"eventType": "Send", "mail": {"messageId": "m-1"}}',
        '{"eventType": "Send", "mail": {"timestamp": "2026-03-01T12:00:00Z"}}',
        '{"eventType": "Send", "mail": {"messageId": "m-1", "timestamp": "yesterday"}}',
        '{"eventType": "Send", "mail": {"messageId": "m-1", "timestamp": 7}}',
        '{"eventType": "Send", "mail": {"messageId": 7, "timestamp": "2026-03-01T12:00:00Z"}}',
        '{"eventType": "", "notificationType": "", "mail": {"messageId": "m-1", "timestamp": "2026-03-01T12:00:00Z"}}',
        '{"eventType": ["Send"], "mail": {"messageId": "m-1", "timestamp": "2026-03-01T12:00:00Z"}}',
        '{"eventType": {}, "notificationType": [], "mail": {"messageId": "m-1", "timestamp": "2026-03-01T12:00:00Z"}}',
    ],
    ids=lambda body: body[:60].encode("ascii", "backslashreplace").decode(),
)  # fmt: skip
def test_what_is_no_event_is_unreadable(body: str) -> None:
    with pytest.raises(Unreadable):
        read_queue_message(body)


@pytest.mark.parametrize(
    "tags",
    [
        {},
        {"tocsin_route": TAGS["tocsin_route"]},
        {"tocsin_attempt": "1-1"},
        TAGS | {"tocsin_attempt": ""},
        TAGS | {"tocsin_attempt": "1"},
        TAGS | {"tocsin_attempt": "1-1-1"},
        TAGS | {"tocsin_attempt": "-1-1"},
        TAGS | {"tocsin_attempt": "1-99999"},
        TAGS | {"tocsin_attempt": "1-1\n"},
        TAGS | {"tocsin_attempt": "1-1' OR '1'='1"},
        TAGS | {"tocsin_route": ""},
        TAGS | {"tocsin_route": NOTIFICATION},
        TAGS | {"tocsin_route": f"{NOTIFICATION}_"},
        TAGS | {"tocsin_route": f"{NOTIFICATION}_email-1\n"},
        TAGS | {"tocsin_route": f"{NOTIFICATION}_" + "x" * 201},
        TAGS | {"tocsin_route": f"{NOTIFICATION}_email;DROP TABLE routes"},
        TAGS | {"tocsin_route": f"{'-' * 36}_email-1"},
        TAGS | {"tocsin_route": f"{NOTIFICATION.replace('-', '0')}_email-1"},
        TAGS | {"tocsin_route": "\ud800" * 36 + "_email-1"},
    ],
)
def test_tags_that_are_not_written_as_ours_name_nobody(tags: dict[str, str]) -> None:
    assert read_queue_message(json.dumps(event("hard bounce", tags))).named is None


@pytest.mark.parametrize("value", [None, 7, "1-1", [], [7], [None], [["1-1"]], {"0": "1-1"}], ids=str)
def test_a_tag_that_is_no_list_of_words_names_nobody(value: Any) -> None:
    content = event("hard bounce", TAGS)
    content["mail"]["tags"]["tocsin_attempt"] = value

    assert read_queue_message(json.dumps(content)).named is None


WORDS = st.one_of(st.text(max_size=20), st.sampled_from(["", "\x00", "a\x00b", "\ud800", "0001-01-01T00:00:00+14:00"]))
MOMENTS = st.sampled_from(["2026-03-01T12:00:00+23:59", "2026-03-01T12:00:00+00:00:00.000001", "2026-W09-7", "20260301T12", ""])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | MOMENTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)
PLACES = [
    ("eventType",), ("notificationType",), ("mail",), ("mail", "messageId"), ("mail", "timestamp"), ("mail", "tags"),
    ("mail", "tags", "tocsin_route"), ("mail", "tags", "tocsin_attempt"), ("bounce",), ("bounce", "timestamp"),
    ("bounce", "bounceType"), ("bounce", "bounceSubType"), ("bounce", "feedbackId"), ("complaint",),
    ("complaint", "complaintFeedbackType"), ("complaint", "timestamp"), ("delivery", "timestamp"), ("reject", "reason"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("mail", "messageId"), "m\x001"),
        (("eventType",), "Bo\x00unce"),
        (("bounce", "bounceSubType"), "General\x00"),
        (("bounce", "bounceSubType"), "\ud800"),
        (("bounce", "bounceType"), ["\ud800", "\x00"]),
        (("bounce", "timestamp"), "2026-03-01T12:00:00+23:59"),
        (("bounce", "timestamp"), "2026-03-01T12:00:00+00:00:00.000001"),
        (("bounce", "timestamp"), "0001-01-01T00:00:00+14:00"),
        (("bounce", "timestamp"), "9999-12-31T23:59:59-14:00"),
    ],
    ids=lambda one: repr(one).encode("ascii", "backslashreplace").decode(),
)
def test_what_postgres_would_refuse_does_not_leave_the_reader(place: tuple[str, ...], value: Any) -> None:
    content = event("hard bounce", TAGS)
    (content if len(place) == 1 else content[place[0]])[place[-1]] = value

    try:
        read = read_queue_message(json.dumps(content))
    except Unreadable:
        return

    assert what_postgres_refuses(read) == []


@settings(max_examples=600)
@given(news=st.sampled_from(list(NEWS)), changes=st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=3))
def test_an_event_with_anything_anywhere_is_unreadable_or_can_be_stored(news: str, changes: list[tuple[Any, Any]]) -> None:
    content = copy.deepcopy(event(news, TAGS))
    for (*above, last), value in changes:
        part: Any = content
        for step in above:
            part = part.get(step) if isinstance(part, dict) else None
        if isinstance(part, dict):
            part[last] = value

    try:
        read = read_queue_message(json.dumps(content))
    except Unreadable:
        return

    assert what_postgres_refuses(read) == []


@given(st.recursive(VALUES, lambda inner: st.dictionaries(st.sampled_from(["Type", "Message", "mail"]), inner), max_leaves=5))
def test_any_json_is_an_event_or_unreadable(value: Any) -> None:
    try:
        read_queue_message(json.dumps(value))
    except Unreadable:
        return


@given(st.binary(max_size=200))
def test_any_text_is_an_event_or_unreadable(text: bytes) -> None:
    try:
        read_queue_message(text.decode("utf-8", "surrogateescape"))
    except Unreadable:
        return


def what_postgres_refuses(read: ProviderEvent) -> list[str]:
    """One event that cannot be stored would take its batch with it, again and again: so it must not leave the reader."""
    texts = {"kind": read.kind, "message id": read.provider_message_id, "detail": read.detail}
    wrong = [f"a zero byte in {name}" for name, text in texts.items() if "\x00" in text]
    wrong += [f"half a surrogate pair in {name}" for name, text in texts.items() if any("\ud800" <= c <= "\udfff" for c in text)]
    wrong += [f"{name} of {len(text)} characters" for name, text in texts.items() if len(text) > 200]
    offset = read.occurred_at.utcoffset()
    if offset is None or abs(offset) >= timedelta(hours=16) or offset.microseconds:
        wrong.append(f"an offset of {offset}")
    try:
        read.occurred_at.astimezone(UTC)
    except OverflowError:
        wrong.append(f"a time that cannot be read back: {read.occurred_at}")
    return wrong


def test_the_ranks_are_those_of_the_design() -> None:
    assert RANKS == ("none", "delayed", "delivered", "soft_bounced", "hard_bounced", "complained")
