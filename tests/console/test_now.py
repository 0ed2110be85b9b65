"""What is happening now: the verdict, and the button that each trouble has."""

from tests.console.console import Console
from tests.e2e.client import Client, wait_for


def test_what_is_wrong_is_said_with_since_when_and_what_to_do(console: Console) -> None:
    console.open()

    console.page.see("$('.verdict.bad') && words($('.verdict')).match(/\\d+ things? needs? you/)")
    console.page.see("$$('.problem').some((one) => words(one).includes('The lane sns:sms is stopped'))")
    console.page.see("$$('.problem').some((one) => words(one).includes('dead letters (deliver email): permanent'))")
    assert console.page.run("$$('.problem').every((one) => one.querySelector('.button'))")


def test_numbers_refresh_by_themselves_in_the_same_elements(console: Console, client: Client) -> None:
    console.open()
    console.page.run("window.kept = $('.verdict')")
    before = console.page.run("$$('.stat b')[4].innerText")

    somebody = {"kind": "address", "email": "moved-away-again@example.com"}
    client.send(type="note", audience=somebody, channels=["email"], payload={"title": "x"})

    console.page.see(f"$$('.stat b')[4].innerText !== {before!r}", seconds=30)
    assert console.page.run("document.contains(kept)")


def test_the_lane_is_opened_with_a_reason_and_what_waited_goes_out(console: Console, client: Client) -> None:
    console.open()

    console.page.click("document && button('Open the lane', $$('.problem').find((one) => words(one).includes('sns:sms')))")
    console.fill_in("Reason", "the contract is signed")
    console.page.click("document && button('Open the lane', $('dialog'))")

    console.page.see("$('.toast') && words($('.toast')).startsWith('The lane is open')")
    wait_for(lambda: [lane["id"] for lane in client.call("GET", "/v1/lanes").body["data"]], lambda lanes: "sns:sms" not in lanes)
    (entry, *_) = client.call("GET", "/v1/audit-log?resource_type=lane").body["data"] or [None]
    assert entry is not None
    assert entry["person"]
