"""The console as a person uses it: opens pages, presses what has these words, and reads what is shown."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.browser.page import Page
from tests.e2e.client import Client, wait_for

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text("utf-8")
# Before any script of the page: `$`, `$$` and `words` look at the page itself; `button` finds what is pressed by its words.
LOOK = """
window.$ = (selector) => document.querySelector(selector);
window.$$ = (selector) => [...document.querySelectorAll(selector)];
window.words = (node) => node?.innerText.replace(/\\s+/g, " ").trim();
window.button = (text, inside = document) =>
  [...inside.querySelectorAll("button, a, [role=tab]")].find((one) => words(one) === text && one.getClientRects().length);
window.field = (label) => $$("label").find((one) => words(one).startsWith(label))?.control;
window.row = (text) => $$("tbody tr").find((one) => words(one).includes(text));
"""
# The demo's own steps, without the pauses that make it lively.
FILL = """(async () => {
  const { callsOf } = await import(new URL("console/any/demo.js", document.baseURI));
  const { steps } = await (await fetch("console/demo.json")).json();
  const { key } = await (await fetch("/_local/session", { headers: { "Tocsin-Local": "tests" } })).json();
  const refused = [];
  for (const step of steps) for (const call of callsOf(step, "demo")) {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${key}`, ...call.headers };
    const answer = await fetch(call.path, { method: call.method, headers, body: JSON.stringify(call.body) });
    if (!answer.ok) refused.push(`${step.say}: ${await answer.text()}`);
    else if (step.gather) {
      const { results } = await answer.json();
      refused.push(...results.filter((one) => one.status >= 400).map((one) => JSON.stringify(one)));
    }
  }
  return refused;
})()"""
PHONE = (375, 812)
DESK = (1280, 900)


@dataclass(slots=True)
class Console:
    page: Page
    url: str

    def open(self, place: str = "#/", *, size: tuple[int, int] = DESK, theme: str = "light") -> None:
        """Open this address in a page of its own, and wait until its data is there."""
        self.page.size(*size, touch=size[0] < 600)
        self.page.media(prefers_color_scheme=theme)
        self.page.before_scripts(LOOK)
        self.page.call("Page.navigate", url="about:blank")
        self.page.call("Page.navigate", url=f"{self.url}/console{place}")
        self.settled()

    def settled(self) -> None:
        self.page.see("$('#page-title') && !$('.sketch')")

    def press(self, text: str) -> None:
        self.page.click(f"document && button({json.dumps(text)})")

    def fill_in(self, label: str, value: str) -> None:
        """Put the cursor into the field with this label, in place of what is there."""
        named = json.dumps(label)
        self.page.see(f"(() => {{ const one = field({named}); one?.focus(); return one && document.activeElement === one }})()")
        self.page.run("document.activeElement.select?.()")
        self.page.press("Backspace") if not value else self.page.type(value)

    def reads(self, text: str) -> None:
        """Wait until somebody can read this on the page."""
        self.page.see(f"words(document.body).includes({json.dumps(text)})")

    def violations(self, *rules: str) -> list[str]:
        """What axe-core finds wrong with the page as it is, by all of its rules or these."""
        self.page.run(f"window.axe || (() => {{ {AXE} }})(), 0")
        only = f", runOnly: {json.dumps(rules)}" if rules else ""
        found: list[dict[str, Any]] = self.page.run(
            f"axe.run(document, {{resultTypes: ['violations']{only}}}).then(({{violations}}) =>"
            " violations.map(({id, nodes}) => ({id, nodes: nodes.slice(0, 3).map((one) => one.html.slice(0, 160))})))"
        )
        return [f"{one['id']}: {node}" for one in found for node in one["nodes"]]

    def sideways(self) -> int:
        """How much wider the page is than the window."""
        return int(self.page.run("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def fill(console: Console, client: Client) -> None:
    """Run the demo, and wait until what it causes has happened."""
    console.open("#/demo")
    assert console.page.run(FILL) == []
    wait_for(lambda: client.call("GET", "/v1/dead-letters/unresolved-count").body["unresolved"], lambda count: count >= 9, 90)
    wait_for(lambda: client.call("GET", "/v1/lanes").body["data"], bool, 60)
