"""Preferences: what a person wants to get, how much of it, and when not."""

import pytest

from tests.browser.fake_inbox import FakeInbox
from tests.browser.page import Page

EMAIL = "$$('form')[0]"


@pytest.fixture
def opened(page: Page, server: FakeInbox) -> Page:
    server.rules["sms"] = {"enabled": False, "frequency_cap": 5, "quiet_hours_start": "22:00", "quiet_hours_end": "07:00"} | {
        "timezone": "Europe/Lisbon",
        "updated_at": "2026-01-01T00:00:00Z",
    }
    page.before_scripts("""Intl.DateTimeFormat = class extends Intl.DateTimeFormat {
        resolvedOptions() { return {...super.resolvedOptions(), timeZone: 'Asia/Tokyo'} }
    }""")
    page.open_inbox(server.page())
    page.click("[aria-label=Preferences]")
    page.see("$$('form').length === 4")
    return page


def fill(page: Page, name: str, value: str) -> None:
    page.run(f"{EMAIL}.elements[{name!r}].value = {value!r}")


def test_each_channel_is_shown_as_it_is(opened: Page) -> None:
    assert opened.run("$$('form').map((form) => [form.ariaLabel, form.querySelector('[role=switch]').checked])") == [
        ["Email", True],
        ["Text message", False],
        ["Push", True],
        ["In this inbox", True],
    ]
    values = (
        "(form) => ['frequency_cap', 'quiet_hours_start', 'quiet_hours_end', 'timezone'].map((name) => form.elements[name].value)"
    )
    assert opened.run(f"$$('form').slice(0, 2).map({values})") == [
        ["", "", "", "Asia/Tokyo"],
        ["5", "22:00", "07:00", "Europe/Lisbon"],
    ]
    assert opened.run("words($$('summary')[1])") == "Limits and quiet hours · At most per day: 5 · 22:00\u201307:00"
    assert opened.run("$$('form')[3].querySelectorAll('input').length") == 1
    assert opened.run("[...$('#zones').options].some((option) => option.value === 'Europe/Lisbon')")


def test_a_switch_is_saved_at_once_and_keeps_the_rest_of_the_rule(opened: Page, server: FakeInbox) -> None:
    opened.click("$$('form')[1].querySelector('[role=switch]')")
    opened.equals("words($('.toast'))", "Saved.")
    opened.click("$$('form')[3].querySelector('[role=switch]')")

    sms, in_app = server.requests("PUT", 2)
    assert (sms.path, sms.body) == (
        "/v1/inbox/preferences/sms",
        {
            "enabled": True,
            "frequency_cap": 5,
            "quiet_hours_start": "22:00",
            "quiet_hours_end": "07:00",
            "timezone": "Europe/Lisbon",
        },
    )
    assert in_app.body == {"enabled": False}


def test_limits_and_quiet_hours_are_saved_together(opened: Page, server: FakeInbox) -> None:
    opened.click("summary")
    fill(opened, "frequency_cap", "3")
    fill(opened, "quiet_hours_start", "21:30")
    fill(opened, "quiet_hours_end", "06:00")

    opened.click(f"{EMAIL}.querySelector('.button')")

    opened.equals("words($('.toast'))", "Saved.")
    (asked,) = server.requests("PUT")
    assert asked.body == {
        "enabled": True,
        "frequency_cap": 3,
        "quiet_hours_start": "21:30",
        "quiet_hours_end": "06:00",
        "timezone": "Asia/Tokyo",
    }
    assert opened.run("words($('summary'))").endswith("At most per day: 3 · 21:30\u201306:00")


def test_an_emptied_field_is_left_out_so_that_the_default_holds(opened: Page, server: FakeInbox) -> None:
    opened.click("$$('summary')[1]")
    opened.run("for (const input of $$('form')[1].querySelectorAll('.fields input')) input.value = ''")

    opened.click("$$('form')[1].querySelector('.button')")

    opened.equals("words($('.toast'))", "Saved.")
    assert server.requests("PUT")[0].body == {"enabled": False}


def test_what_the_server_refuses_is_said_at_the_field(opened: Page, server: FakeInbox) -> None:
    opened.click("summary")
    opened.click("[name=frequency_cap]")
    opened.type("0")

    opened.press("Enter")

    opened.equals("words($('.error'))", "must be from 1 to 1000")
    field = next(node for node in opened.accessible() if node["role"] == "spinbutton")
    assert field["invalid"] == "true"
    assert opened.run("[focused().name, focused().getAttribute('aria-describedby') === $('.error').id]") == [
        "frequency_cap",
        True,
    ]

    fill(opened, "frequency_cap", "7")
    opened.press("Enter")
    opened.equals("words($('.toast'))", "Saved.")
    assert opened.run("[words($('.error')), $('[aria-invalid]')]") == ["", None]


def test_what_is_wrong_with_the_whole_is_said_as_a_message(opened: Page, server: FakeInbox) -> None:
    opened.click("summary")
    fill(opened, "quiet_hours_start", "22:00")

    opened.click(f"{EMAIL}.querySelector('.button')")

    opened.equals("words($('.toast'))", "Not changed. quiet hours need both ends")


def test_a_switch_that_is_refused_goes_back(opened: Page, server: FakeInbox) -> None:
    server.refuse("PUT", 503, detail="The database cannot be reached just now.")

    opened.click("$$('form')[0].querySelector('[role=switch]')")

    opened.equals("words($('.toast'))", "Not changed. The database cannot be reached just now.")
    opened.equals("$('[role=switch]').checked", True)


def test_preferences_that_cannot_be_loaded_can_be_tried_again(page: Page, server: FakeInbox) -> None:
    server.refuse("preferences", 500)
    page.open_inbox(server.page())
    page.click("[aria-label=Preferences]")
    page.see("$('.state .button')")

    server.well()
    page.click(".state .button")

    page.see("$$('form').length === 4")


TYPES = [
    {"name": "login", "title": "Sign-ins", "description": "Somebody signed in.", "locked": True, "channels": ["email", "in_app"]},
    {"name": "order/shipped", "channels": ["email", "sms"]},
]
BOX = "$$('.type')[{type}].querySelectorAll('input')[{channel}]"


@pytest.fixture
def typed(page: Page, server: FakeInbox) -> Page:
    server.types, server.unreachable = TYPES, {"sms": "no_address", "push": "suppressed"}
    page.open_inbox(server.page())
    page.click("[aria-label=Preferences]")
    page.see("$$('.type').length === 2")
    return page


def test_each_type_has_its_channels_and_a_critical_one_is_locked_with_the_reason(typed: Page) -> None:
    assert typed.run("$$('.type').map((each) => [each.ariaLabel, words(each.querySelector('.about'))])") == [
        ["Sign-ins", "Somebody signed in."],
        ["order/shipped", None],
    ]
    assert typed.run("$$('.type .choice').map((each) => each.childNodes[1].textContent)") == [
        "Email",
        "In this inbox",
        "Email",
        "Text message",
    ]
    assert typed.run("$$('.type input').map((each) => [each.checked, each.disabled])") == [
        [True, True],
        [True, True],
        [True, False],
        [False, True],
    ]
    reason = "inbox.shadowRoot.getElementById($('.type input').getAttribute('aria-describedby'))"
    assert "cannot be switched off" in typed.run(f"words({reason})")


def test_a_channel_that_does_not_reach_one_is_greyed_and_says_why(typed: Page) -> None:
    off = "$$('form').filter((each) => each.matches('.off')).map((each) => [each.ariaLabel, words(each.querySelector('.why'))])"
    assert typed.run(off) == [
        ["Text message", "We have no address of yours for this."],
        ["Push", "Messages to this address came back or were refused, so none are sent."],
    ]
    switches = [node for node in typed.accessible() if node["role"] == "switch"]
    assert [node.get("disabled", False) for node in switches] == [False, True, True, False]
    assert typed.run("$$('[role=switch]').map((each) => each.checked)") == [True, False, False, True]
    assert typed.run("words($$('.type .choice')[3])") == "Text message We have no address of yours for this."


def test_a_type_is_switched_on_one_channel_and_what_is_refused_goes_back(typed: Page, server: FakeInbox) -> None:
    email = BOX.format(type=1, channel=0)
    typed.click(email)
    typed.equals("words($('.toast'))", "Saved.")
    (asked,) = server.requests("PUT", 1)
    assert (asked.path, asked.query, asked.body) == (
        "/v1/inbox/preferences/email",
        {"type": "order/shipped"},
        {"enabled": False},
    )

    server.refuse("PUT", 422, detail="This type cannot be switched off.")
    typed.click(email)

    typed.equals("words($('.toast'))", "Not changed. This type cannot be switched off.")
    assert typed.run(f"{email}.checked") is False


def test_a_channel_that_is_switched_off_takes_the_types_without_a_rule_with_it(typed: Page, server: FakeInbox) -> None:
    typed.click("$$('form')[0].querySelector('[role=switch]')")

    typed.equals("$$('.type input').map((each) => each.checked)", [False, True, False, False])


def test_escape_goes_back_to_the_inbox_and_then_closes(opened: Page) -> None:
    opened.press("Escape")
    opened.see("!$('.tabs').hidden && inbox.isOpen")

    opened.press("Escape")

    opened.see("!inbox.isOpen")


def test_letters_typed_into_a_field_do_nothing_else(opened: Page, server: FakeInbox) -> None:
    opened.click("summary")
    opened.click("[name=timezone]")

    opened.press("d", "?", "r")

    assert opened.run("focused().value.replace('Asia/Tokyo', '')") == "d?r"
    assert opened.run("words($('h2'))") == "Preferences"
