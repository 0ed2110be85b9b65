"""The form of the preferences page: only what the reader changed is a change, and what cannot be meant is told at its field."""

from datetime import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.forms import Form, form_of
from tocsin.content.brand import Brand
from tocsin.content.preferences_changes import Changes, changes, mistakes
from tocsin.content.preferences_form import ChannelFacts, Choices, KindFacts, NotTheForm, read, untouched
from tocsin.content.preferences_page import preferences_page

CHANNELS = [
    ChannelFacts("email", None, True, 20),
    ChannelFacts("sms", "no_address", True, None),
    ChannelFacts("push", None, False, None),
    ChannelFacts("in_app", None, True, None),
]
KINDS = [
    KindFacts("alarm", "Alarms", "", True, {"email": True, "push": True}),
    KindFacts("news", "News", "", False, {"email": True, "sms": True, "push": False}),
    KindFacts("offers", "", "", False, {"email": False}),
]
CHOICES = Choices(CHANNELS, KINDS, {"start": "22:00", "end": "07:00", "zone": "Europe/Lisbon"}, is_mixed=False)


def _form(choices: Choices = CHOICES) -> Form:
    return form_of(preferences_page(choices, Brand("Acme"), "en").content)


def _changes(form: Form, choices: Choices = CHOICES) -> Changes:
    filled = read(form.body().encode())
    assert mistakes(filled) == {}
    return changes(filled, choices)


def test_a_form_that_comes_back_as_it_was_shown_changes_nothing() -> None:
    assert read(_form().body().encode()).kinds == untouched(CHOICES).kinds
    assert _changes(_form()) == Changes()


def test_what_others_changed_meanwhile_is_not_taken_back() -> None:
    before = _form()
    after = Choices([ChannelFacts("email", None, False, 5), *CHANNELS[1:]], KINDS[1:], CHOICES.hours, is_mixed=False)

    assert _changes(before, after) == Changes()


def test_a_kind_that_is_switched_off_stays_off_and_one_that_is_switched_on_follows_its_channel() -> None:
    form = _form()
    news, offers = form.place_of("news"), form.place_of("offers")
    form.tick(news, "email", on=False)
    form.tick(news, "push")
    form.tick(offers, "email")

    found = _changes(form)

    assert found.rules == {
        ("email", "news"): {"enabled": False},
        ("push", "news"): {"enabled": True},  # the channel is off: this alone is on
        ("email", "offers"): {"enabled": None},
    }
    assert found.subscribed_again == ["offers"]


def test_a_kind_that_is_switched_on_together_with_its_channel_follows_it() -> None:
    form = _form()
    form.tick("channels", "push")
    form.tick(form.place_of("news"), "push")

    assert _changes(form).rules == {("push", ""): {"enabled": True}, ("push", "news"): {"enabled": None}}


def test_what_is_locked_or_out_of_reach_cannot_be_switched() -> None:
    form = _form()

    assert {name for name, _ in form.boxes} == {"channels", form.place_of("news"), form.place_of("offers")}
    assert ("channels", "sms") not in form.boxes
    assert (form.place_of("news"), "sms") not in form.boxes
    assert form.disabled == 4


def test_a_form_that_names_what_is_locked_or_not_there_changes_nothing() -> None:
    forged = "channels.shown=&k.name=alarm&k.shown=email&k.was=email&n.name=none&n.shown=email&n.was=&n=email&x=y"

    assert changes(read(forged.encode()), CHOICES) == Changes()


def test_quiet_hours_and_caps_are_written_where_they_were_changed() -> None:
    form = _form()
    form.texts |= {"start": "23:30", "cap.email": "", "cap.push": "3"}

    found = _changes(form).rules

    hours = {"quiet_hours_start": time(23, 30), "quiet_hours_end": time(7), "timezone": "Europe/Lisbon"}
    assert found == {
        ("email", ""): {"frequency_cap": None} | hours,
        ("push", ""): {"frequency_cap": 3} | hours,
        ("sms", ""): hours,
    }


def test_quiet_hours_are_taken_away_by_leaving_both_times_empty() -> None:
    form = _form()
    form.texts |= {"start": "", "end": ""}

    assert {tuple(rule.values()) for rule in _changes(form).rules.values()} == {(None, None, "Europe/Lisbon")}


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ({"start": ""}, {"start": "no_start"}),
        ({"end": ""}, {"end": "no_end"}),
        ({"end": "22:00"}, {"end": "same"}),
        ({"end": "22:00:00"}, {"end": "same"}),
        ({"start": "25:00"}, {"start": "bad_time"}),
        ({"start": "٢٢:٣٣", "end": "x"}, {"start": "bad_time", "end": "bad_time"}),
        ({"start": "10pm", "zone": "Mars/Base"}, {"start": "bad_time", "zone": "bad_zone"}),
        ({"zone": ""}, {"zone": "bad_zone"}),
        ({"zone": "../../etc/passwd"}, {"zone": "bad_zone"}),
        ({"cap.email": "-1"}, {"cap.email": "bad_cap"}),
        ({"cap.email": "1.5"}, {"cap.email": "bad_cap"}),
        ({"cap.push": "10001"}, {"cap.push": "bad_cap"}),
        ({"cap.push": "٣"}, {"cap.push": "bad_cap"}),
        ({"cap.push": "9" * 50}, {"cap.push": "bad_cap"}),
        ({"cap.push": "10000", "start": "21:00:00"}, {}),
    ],
)
def test_what_cannot_be_meant_is_told_at_its_field(typed: dict[str, str], wrong: dict[str, str]) -> None:
    form = _form()
    form.texts |= typed

    assert mistakes(read(form.body().encode())) == wrong


def test_what_was_wrong_before_the_reader_came_is_not_their_mistake() -> None:
    odd = Choices(
        [ChannelFacts("email", None, True, 99_999)], KINDS, {"start": "", "end": "", "zone": "Old/Zone"}, is_mixed=False
    )

    assert mistakes(read(_form(odd).body().encode())) == {}


@pytest.mark.parametrize(
    "body",
    [b"", b"x", b"a=b", b"channels.shown=email&a=%ff", b"channels.shown=%00", b"\xff\xfe", b"channels.shown=&" + b"a=b&" * 6_000,
     b"channels.shown=" + b"x" * 2_000_000],
)  # fmt: skip
def test_what_is_not_the_form_is_refused(body: bytes) -> None:
    with pytest.raises(NotTheForm):
        read(body)


@given(body=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: f"channels.shown=email&{text}".encode()))
def test_whatever_is_sent_is_read_or_refused(body: bytes) -> None:
    try:
        found: Any = changes(read(body), CHOICES) if not mistakes(read(body)) else None
    except NotTheForm:
        found = None

    assert found is None or isinstance(found, Changes)
