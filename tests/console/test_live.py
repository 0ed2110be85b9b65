"""What is decided right now: newest on top, each once, until one presses Pause."""

import json
from typing import Any
from uuid import uuid4

from tests.browser.page import Page
from tests.console.console import Console
from tests.e2e.client import Client

# Pages of decisions as the test says, one after the other; the last one again and again.
DECISIONS = """
const real = fetch;
window.pages = []; window.asked = [];
window.fetch = (url, ...more) => {
  if (!String(url).includes("/v1/decisions")) return real(url, ...more);
  asked.push(new URL(url).searchParams.get("since"));
  const page = pages.length > 1 ? pages.shift() : (pages[0] ?? { data: [], next_since: "2026-01-01T00:00:00Z", more: false });
  return Promise.resolve(new Response(JSON.stringify(page)));
};
"""


def row(number: int, **more: Any) -> dict[str, Any]:
    about = {
        "notification_id": str(uuid4()),
        "type": "note",
        "producer": "shop",
        "mode": "live",
        "route_id": "r",
        "channel": "email",
    }
    step = {"at": f"2026-01-01T00:00:{number:02}Z", "what": "skipped", "reason": "quiet_hours", "recipient": f"user:p{number}"}
    return {"id": f"d{number}", **about, **step, **more}


def live(page: Page, console: Console, *pages: list[dict[str, Any]]) -> None:
    page.before_scripts(DECISIONS)
    told = [{"data": data, "next_since": f"2026-01-01T00:00:0{at}Z", "more": at < len(pages)} for at, data in enumerate(pages, 1)]
    page.before_scripts(f"window.pages = {json.dumps(told)}")
    console.open("#/live")


def test_what_is_sent_now_is_told_at_once_and_leads_to_its_notification(console: Console, page: Page, client: Client) -> None:
    console.open("#/live?user_id=ada&channel=in_app")
    kind = f"now.{uuid4().hex[:6]}"

    sent = client.send(type=kind, audience={"kind": "users", "user_ids": ["ada"]}, channels=["in_app"], payload={"title": "Now"})

    page.see(
        f"$$('.live li').some((one) => words(one).includes({kind!r}) && words(one).includes('The inbox row for ada is there.'))"
    )
    page.run(f"$$('.live li').find((one) => words(one).includes({kind!r})).querySelector('a').click()")
    page.see(f"location.hash.startsWith('#/notifications/{sent}') && words($('.verdict strong')) === 'ada got it in the inbox.'")


def test_live_decisions_stand_newest_first_and_each_once_however_often_it_is_read(console: Console, page: Page) -> None:
    live(page, console, [row(1), row(2)], [row(2), row(3)])

    page.see("$$('.live li').length === 3 && asked.length >= 3")

    shown = page.run("$$('.live li').map((one) => words(one.querySelector('a')))")
    assert shown == [f"The email to p{number} was not sent." for number in (3, 2, 1)]
    assert page.run("asked.slice(0, 3)") == [None, "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"]


def test_while_paused_nothing_moves_and_what_is_new_is_counted(console: Console, page: Page) -> None:
    live(page, console, [row(1)])
    page.see("$$('.live li').length === 1")

    console.press("Pause")
    page.run(f"pages = [{json.dumps({'data': [row(2), row(3)], 'next_since': '2026-01-01T00:00:09Z', 'more': False})}], 0")
    page.see("words($('.live-standing')).includes('2 new decisions wait')")

    assert page.run("$$('.live li').length") == 1
    console.press("Go on")
    page.see("$$('.live li').length === 3")


def test_no_more_than_five_hundred_decisions_are_kept(console: Console) -> None:
    console.open()

    kept = console.page.run(
        """import("/console/any/decisions.js").then(({nothing, taken}) => {
            let state = nothing();
            for (let page = 0; page < 4; page++) {
                const at = (place) => `2026-01-01T00:0${page}:00.${1000 + place}Z`;
                const data = Array.from({length: 200}, (_, place) => ({id: `${page}-${place}`, at: at(place)}));
                state = taken(state, {data, next_since: "x"});
            }
            return [state.rows.length, state.rows[0].id, state.rows.at(-1).id];
        })"""
    )

    assert kept == [500, "3-199", "1-100"]
