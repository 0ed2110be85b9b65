"""Words as a provider takes them: the link has its place on each channel, and a title alone is one line."""

import json

import pytest

from tests.unit.messages import a_message
from tests.unit.test_sns import ENDPOINT, Recorder
from tocsin.channels.fcm import _push
from tocsin.channels.fit import MAX_SMS, note_on, push_words, sms_text
from tocsin.channels.sns import SnsPush
from tocsin.content.display import Action
from tocsin.content.plain import Content

URL = "https://shop.example/orders/A-17"
LINKED = Content("Shipped", "It is on its way.", "<p>It is on its way.</p>", URL)
ALONE = Content("Shipped", "Shipped", "<h1>Shipped</h1>")


def test_a_link_that_the_words_have_already_is_not_added() -> None:
    said = Content("Shipped", f"Follow it: {URL}", "", URL)

    assert sms_text(said, 1_600) == f"Shipped: Follow it: {URL}"


@pytest.mark.parametrize("text", ["x" * 1_590 + f" {URL}", f"See {URL}/terms"])
def test_a_link_that_is_cut_off_or_only_begins_another_is_added(text: str) -> None:
    said = sms_text(Content("", text, "", URL), 1_600)

    assert said.endswith(f"\n{URL}")
    assert len(said) <= 1_600


def test_in_an_sms_the_link_comes_last_and_is_never_cut() -> None:
    assert sms_text(LINKED, 1_600) == f"Shipped: It is on its way.\n{URL}"
    cut = sms_text(Content("T", "x" * 5_000, "", URL), 160)
    assert (len(cut), cut.endswith(f"x…\n{URL}")) == (160, True)


def test_an_sms_with_buttons_has_the_first_ones_link() -> None:
    buttons = (Action("Pay", "https://pay.example/1"), Action("Later", "https://pay.example/2"))

    assert sms_text(Content("T", "M", actions=buttons), 1_600) == "T: M\nhttps://pay.example/1"


def test_an_sms_is_cut_between_words_and_the_attempt_says_so() -> None:
    content = Content("T", "word " * 400, "", URL)

    said = sms_text(content, MAX_SMS)

    assert said.endswith(f"word…\n{URL}")
    assert MAX_SMS - 5 <= len(said) <= MAX_SMS
    assert note_on("sms", content) == "the text was cut from 2003 characters to the 1600 that an SMS may have"


def test_what_is_sent_whole_has_no_note() -> None:
    assert note_on("sms", LINKED) == ""
    assert note_on("sms", Content("", "x" * 1_600)) == ""
    assert note_on("push", Content("T", "x" * 5_000)) == ""
    assert note_on("email", Content("T", "x" * 5_000, note="the title was cut")) == "the title was cut"


def test_a_title_that_turns_the_line_around_turns_itself_alone() -> None:
    assert sms_text(Content("\u202etitle", "text"), 160) == "\u202etitle\u202c: text"


def test_a_link_that_would_crowd_out_the_words_of_an_sms_is_left_out() -> None:
    url = "https://shop.example/".ljust(800, "x")

    assert sms_text(Content("T", "M", "", url), 1_600) == f"T: M\n{url}"
    assert sms_text(Content("T", "M", "", url + "x"), 1_600) == "T: M"


@pytest.mark.parametrize("content", [ALONE, Content("Shipped", "Shipped", "", URL)])
def test_a_title_alone_is_said_once(content: Content) -> None:
    recorder = Recorder()
    SnsPush(recorder, {}).send(a_message(content, device_endpoint_arn=ENDPOINT))

    assert push_words(content) == {"title": "Shipped"}
    assert sms_text(content, 160).count("Shipped") == 1
    assert json.loads(recorder.published[0]["Message"])["default"] == "Shipped"


def test_a_push_carries_the_link_as_data_for_the_app() -> None:
    recorder = Recorder()
    SnsPush(recorder, {}).send(a_message(LINKED, device_endpoint_arn=ENDPOINT))

    body = json.loads(recorder.published[0]["Message"])
    assert json.loads(body["APNS"]) == {"aps": {"alert": {"title": "Shipped", "body": "It is on its way."}}, "url": URL}
    assert json.loads(body["GCM"])["fcmV1Message"]["message"]["data"] == {"url": URL}
    assert _push(a_message(LINKED))["data"]["url"] == URL
    assert "url" not in _push(a_message())["data"]


@pytest.mark.parametrize("character", ["x", '"', "😀"])
def test_no_push_is_too_large_because_of_its_link(character: str) -> None:
    content = Content(character * 200, character * 20_000, "", "https://shop.example/" + "x" * 1_979)

    message = {"message": _push(a_message(content))}

    assert len(json.dumps(message, ensure_ascii=False).encode()) <= 4_096
    assert len(message["message"]["notification"]["body"]) > 50
