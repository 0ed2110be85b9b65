"""Notification types and event routing: each change says what it comes to, and can be taken back."""

from uuid import uuid4

import pytest

from tests.console.console import DESK, PHONE, Console
from tests.e2e.client import Client, wait_for

PAGES = [  # those that the menu does not lead to: tests/console/test_pages.py has the others
    "#/templates?new=1",
    "#/templates/newsletter",
    "#/templates/newsletter?tab=locales&try=pt",
    "#/templates/newsletter?tab=versions",
]
PAGES += [
    "#/types?new=1",
    "#/types/newsletter",
    "#/routing?try=comment.created",
    "#/routing?new=1",
    "#/routing/comment.created",
]


def kind_of(client: Client, name: str) -> dict[str, object]:
    found: dict[str, object] = client.call("GET", f"/v1/notification-types/{name}").body
    return found


def test_a_type_says_in_words_what_it_comes_to_and_undo_puts_the_old_value_back(console: Console, client: Client) -> None:
    name = f"note.{uuid4().hex[:8]}"
    client.call("PUT", f"/v1/notification-types/{name}", {"channels": ["email"], "title": "Notes"})
    console.open(f"#/types/{name}")

    console.fill_in("Description", "What somebody noted.")
    console.fill_in("Expires after", "7200")
    console.fill_in("Messages", "2")
    console.fill_in("in any", "600")
    console.reads("What is not sent within 2 h is not sent at all.")
    console.reads("One address gets at most 2 in any 10 min")
    console.press("Save")

    wait_for(lambda: kind_of(client, name)["over_sending"], lambda guard: guard == {"limit": 2, "window_seconds": 600})
    saved = kind_of(client, name)
    assert (saved["title"], saved["description"]) == ("Notes", "What somebody noted.")
    console.press("Undo")
    wait_for(lambda: kind_of(client, name)["over_sending"], lambda guard: guard is None)
    console.page.equals("field('Expires after').value", "")


def test_what_the_api_refuses_stands_at_its_field_and_the_rest_is_kept(console: Console) -> None:
    console.open("#/types?new=1")

    console.fill_in("Name", f"note.{uuid4().hex[:8]}")
    console.fill_in("Expires after", "5")
    console.fill_in("Messages", "3")
    console.press("Save")

    console.page.see("words(field('Expires after').closest('.field')).includes('60')")
    console.page.see("field('in any').getAttribute('aria-invalid') === 'true'")
    assert console.page.run("field('Messages').value") == "3"


def test_edits_of_a_type_outlive_a_look_at_another_page(console: Console) -> None:
    console.open("#/types/newsletter")
    console.fill_in("Expires after", "7200")

    console.press("Event routing")
    console.page.see("words($('h1')) === 'Event routing'")
    console.page.run("location.hash = '#/types/newsletter'")

    console.page.equals("field('Expires after')?.value", "7200")
    console.press("Begin anew")
    console.page.equals("field('Expires after').value", "")


def test_a_box_that_is_ticked_tells_people_by_that_channel(console: Console, client: Client) -> None:
    event_type = f"build.{uuid4().hex[:8]}"
    client.call("PUT", f"/v1/event-routing/{event_type}", {"rules": {"watching": ["in_app"]}})
    console.open(f"#/routing/{event_type}")

    console.reads("They are told as “watching”, by Inbox.")
    console.page.click("document.querySelector(\"[aria-label='Took part is named']\")")
    console.reads("They are not told: “took part” is the strongest that is named, and it has no channel.")
    console.page.click("document.querySelector(\"[aria-label='Took part: Email']\")")
    console.press("Save")

    rules = {"comment": ["email"], "watching": ["in_app"]}
    wait_for(lambda: client.call("GET", f"/v1/event-routing/{event_type}").body["rules"], lambda found: found == rules)
    console.press("Undo")
    wait_for(
        lambda: client.call("GET", f"/v1/event-routing/{event_type}").body["rules"],
        lambda found: found == {"watching": ["in_app"]},
    )


def test_a_routing_that_goes_says_what_answers_instead_and_comes_back(console: Console, client: Client) -> None:
    begin = f"x{uuid4().hex[:6]}"
    for event_type in (f"{begin}.done", f"{begin}.*"):
        client.call("PUT", f"/v1/event-routing/{event_type}", {"rules": {"mention": ["in_app"]}})
    console.open(f"#/routing/{begin}.done")

    console.press("Tell nobody any more")
    console.reads(f"From now on {begin}.* says whom they tell.")
    console.press("Take it away")
    console.page.see("location.hash === '#/routing'")

    console.press("Undo")
    wait_for(lambda: client.call("GET", f"/v1/event-routing/{begin}.done").status, lambda status: status == 200)


@pytest.mark.parametrize("place", PAGES)
def test_pages_about_content_are_accessible_and_fit_a_phone(console: Console, place: str) -> None:
    console.open(place, size=PHONE)
    assert console.sideways() == 0

    console.page.size(*DESK)
    console.page.media(prefers_color_scheme="dark")

    assert console.violations() == []
