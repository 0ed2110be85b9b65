"""Why did she not get it? Search, what became of a notification, and its message as sent."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from tests.console.console import PHONE, Console
from tests.e2e.client import Client, wait_for


def refused(client: Client) -> str:
    """A notification whose email comes back for good, and which is in the inbox."""
    client.call("PUT", "/v1/users/nora", {"email": "moved-away-nora@example.com"})
    told = {"title": "Order 7", "message": "On its way"}
    name = client.send(type="note", audience={"kind": "users", "user_ids": ["nora"]}, channels=["email", "in_app"], payload=told)
    wait_for(lambda: client.notification(name), lambda found: found["route_counts"].get("dead_letter") == 1, 30)
    return name


def test_search_finds_what_a_key_means_and_leads_to_the_answer_and_the_replay(console: Console, client: Client) -> None:
    name = refused(client)
    key = client.notification(name)["idempotency_key"]
    console.open()
    console.page.press("/")
    console.page.type(key)
    console.page.press("Enter")
    console.reads("One notification, found by the idempotency key")

    console.press("Open it")

    console.page.see("words($('.verdict strong')) === 'nora got it in the inbox, but not by email.'")
    console.reads("Email was given up: the provider refused it for good.")
    console.reads("SES refused the email to nora for good.")
    assert console.page.run("$$('.story [title]').some((one) => one.title === 'dead_letter: permanent')")
    console.press("Replay it")
    console.page.see("$('dialog[open]') && words($('dialog')).includes('is done once more')")


def test_a_search_for_nothing_known_says_what_can_be_searched_for(console: Console) -> None:
    console.open("#/search?q=nobody-knows-this")

    console.reads("Nothing matches")
    console.reads("A provider's message id")


def test_the_message_is_shown_as_it_was_sent_in_a_frame_that_has_no_origin(console: Console, client: Client) -> None:
    name = f"as-sent-{uuid4().hex[:6]}"
    client.call(
        "POST",
        "/v1/templates",
        {"name": name, "channel": "email", "subject": "For {{ who }}", "body": "<p>Hello <b>{{ who }}</b></p>"},
    )
    sent = client.send(
        type="note", template=name, audience={"kind": "users", "user_ids": ["lena"]}, channels=["email"], payload={"who": "Lena"}
    )
    client.finished(sent)
    console.open(f"#/notifications/{sent}")

    console.press("Show the message as sent")

    console.page.see("words($('dialog .preview-subject')) === 'For Lena'")
    console.page.see("parseInt($('dialog iframe').style.height) >= 320 && words($('dialog')).includes('as sent')")
    assert console.page.run("$('dialog iframe').getAttribute('sandbox')") == "allow-scripts"
    assert console.page.run("(() => { try { return $('dialog iframe').contentDocument === null } catch { return true } })()")


def test_the_story_can_be_told_for_one_route_and_the_address_keeps_it(console: Console, client: Client) -> None:
    sent = client.send(
        type="note", audience={"kind": "users", "user_ids": ["ada", "bo"]}, channels=["in_app"], payload={"title": "Two"}
    )
    found = client.finished(sent)
    console.open(f"#/notifications/{sent}?route={found['routes'][0]['route_id']}")

    console.page.see("words($('#story')).includes('The inbox row for')")

    assert console.page.run("$$('#story .story li').filter((one) => words(one).includes('is there')).length") == 1
    console.page.run(
        "(() => { const one = $('#story select'); one.value = ''; one.dispatchEvent(new Event('change', {bubbles: true})); })()"
    )
    console.page.see("$$('#story .story li').filter((one) => words(one).includes('is there')).length === 2")


def test_what_is_scheduled_can_be_cancelled_once_one_was_told_what_that_means(console: Console, client: Client) -> None:
    later = {"kind": "users", "user_ids": ["ada"]}
    in_a_month = (datetime.now(UTC) + timedelta(days=30)).isoformat()
    sent = client.send(type="note", audience=later, payload={"title": "Later"}, send_at=in_a_month)
    console.open(f"#/notifications/{sent}")
    console.page.see("words($('.verdict')).startsWith('It waits until')")

    console.press("Cancel")
    console.page.see("words($('dialog[open]')).includes('What has not been sent stops here')")
    console.press("Cancel the notification")

    console.page.see("words($('.toasts')).includes('It is cancelled')")
    wait_for(lambda: client.notification(sent), lambda found: found["cancelled_at"] is not None)


def test_the_list_keeps_its_filters_in_the_address(console: Console) -> None:
    console.open("#/notifications?user_id=ada&channel=email")

    console.page.see("$$('tbody tr').length > 0 && field('User').value === 'ada' && field('Channel').value === 'email'")


def test_one_that_was_refused_is_accessible_and_fits_a_phone(console: Console, client: Client) -> None:
    console.open(f"#/notifications/{refused(client)}", size=PHONE, theme="dark")

    assert console.sideways() <= 0
    assert console.violations() == []
