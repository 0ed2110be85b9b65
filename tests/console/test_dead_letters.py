"""Dead letters and jobs: by cause and one by one; done once more, laid aside, and how far it has come."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.console.console import Console
from tests.e2e.client import Client, wait_for

SCRIPT = "tocsinFiles.root"
# A job that is half done, does ten more whenever it is asked for, and stops when it is told to.
SLOW_JOB = """
const now = new Date().toISOString();
window.job = {
  id: "slow", kind: "replay", status: "running", arguments: {filter: {state: "unresolved"}, past_expiry: false},
  total: 1000, done: 480, skipped: 20, failed: 0, skipped_reasons: {expired: 20},
  created_by: "k", created_at: now, started_at: now, finished_at: null, updated_at: now,
};
const real = fetch;
window.fetch = async (url, ...more) => {
  if (!String(url).includes("/v1/jobs/slow")) return real(url, ...more);
  if (String(url).endsWith("/cancel")) job.status = "cancelled";
  else if (job.status === "running") job.done += 10;
  return new Response(JSON.stringify(job), {status: 200});
};
"""
Dead = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def dead(client: Client) -> Dead:
    """Letters of a type of their own, so that tests do not meet: the provider refuses these addresses for good."""

    def make(kind: str, count: int = 1) -> list[dict[str, Any]]:
        for number in range(count):
            address = {"kind": "address", "email": f"moved-away-{kind}-{number}@example.com"}
            client.send(type=kind, audience=address, channels=["email"], payload={"title": "x", "message": "y"})
        path = f"/v1/dead-letters?type={kind}"
        found: list[dict[str, Any]] = wait_for(lambda: client.call("GET", path).body["data"], lambda rows: len(rows) == count)
        return found

    return make


def test_a_cause_says_how_many_since_when_and_what_to_do_and_leads_to_its_letters(console: Console, dead: Dead) -> None:
    dead("cause.shown", 2)
    console.open("#/dead-letters")

    console.page.see("$$('.cause').some((one) => /Email: refused for good.*The provider refused/.test(words(one)))")
    console.page.click(
        "document && button('Look at them', $$('.cause').find((one) => words(one).includes('Email: refused for good')))"
    )

    console.page.see("location.hash.includes('classification=permanent') && location.hash.includes('channel=email')")
    console.page.see("$('.cause.current') && document.activeElement.id === 'letters'")
    console.page.see("$$('tbody tr').length > 0 && $$('tbody tr').every((one) => words(one).includes('refused for good'))")


def test_several_are_laid_aside_with_one_reason(console: Console, client: Client, dead: Dead) -> None:
    letters = dead("aside.several", 2)
    console.open("#/dead-letters?type=aside.several")

    console.page.click("document && $('thead input')")
    console.reads("2 letters selected")
    console.press("Lay them aside")
    console.reads("Lay these 2 dead letters aside?")
    console.fill_in("Reason", "They moved away")
    console.page.press("Enter")

    console.reads("2 letters are laid aside.")
    console.reads("Nothing matches these filters.")
    shown = [client.call("GET", f"/v1/dead-letters/{letter['id']}").body for letter in letters]
    assert {(one["resolution"], one["resolution_reason"]) for one in shown} == {("ignored", "They moved away")}


def test_a_letter_shows_its_attempts_and_is_replayed_once(console: Console, client: Client, dead: Dead) -> None:
    (letter,) = dead("replay.one")
    console.open(f"#/dead-letters/{letter['id']}")
    console.page.see("row('MessageRejected') && words(row('MessageRejected')).includes('permanent')")

    console.press("Replay it")
    console.page.click("document && button('Replay it', $('dialog'))")

    console.reads("It was replayed")
    console.page.see("!button('Replay it') && !button('Lay it aside')")
    assert client.call("GET", f"/v1/dead-letters/{letter['id']}").body["resolution"] == "replayed"


def test_what_stands_in_the_way_is_explained_and_no_button_promises_more(console: Console, client: Client, dead: Dead) -> None:
    (letter,) = dead("obstacle.shown")
    client.call("POST", f"/v1/notifications/{letter['notification_id']}/cancel")
    console.open(f"#/dead-letters/{letter['id']}")

    console.reads("It cannot be replayed just now")
    assert console.page.run("Boolean(button('Replay it'))") is False


def test_all_that_match_are_replayed_as_a_job_that_is_found_again_after_a_reload(
    console: Console, client: Client, dead: Dead
) -> None:
    dead("replay.many", 3)
    console.open("#/dead-letters?type=replay.many")
    console.page.see("$$('tbody tr').length === 3")

    console.press("Replay all that match")
    console.reads("3 letters will be done once more")
    console.press("Replay them")

    console.page.see("location.hash.startsWith('#/jobs/')")
    console.reads("All 3 letters were gone through.")
    place = console.page.run("location.hash")
    console.open(place)
    console.reads("3 of 3 (100 %)")
    assert client.call("GET", f"/v1/jobs/{place.rsplit('/', 1)[1]}").body["done"] == 3


def test_what_a_job_left_as_it_was_is_said_in_words(console: Console) -> None:
    console.open()

    said = console.page.run(f"import(new URL('letters.js', {SCRIPT})).then((all) => all.skippedWords('recipient_gone'))")

    assert said == "to somebody who is not a user any more"


def test_a_job_that_runs_is_looked_at_every_second_and_cancelled_after_a_word(console: Console) -> None:
    console.page.before_scripts(SLOW_JOB)
    console.open("#/jobs/slow")
    console.reads("20 expired")
    first = console.page.run("$('progress').value")
    console.page.see(f"$('progress').value > {first}", seconds=3)

    console.press("Cancel the job")
    console.page.see("words($('.asked'))?.match(/\\d+ are done once more and stay so; \\d+ letters stay as they are/)")
    console.page.click("document && button('Cancel the job', $('dialog'))")

    console.reads("It was cancelled. What it had done by then stays done.")
    console.page.see("!button('Cancel the job')")


def test_how_long_a_job_takes_is_told_by_its_pace(console: Console) -> None:
    console.open()
    job = {"status": "running", "done": 30, "skipped": 10, "failed": 0, "total": 100, "started_at": "2026-01-01T00:00:00Z"}
    now = "Date.parse('2026-01-01T00:00:20Z')"

    left = console.page.run(f"import(new URL('job-words.js', {SCRIPT})).then((all) => all.estimateOf({json.dumps(job)}, {now}))")

    assert left == 30
