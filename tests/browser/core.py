"""The bell's core in a worker of the test browser: real modules and promises, but no page, no server and no time of its own."""

import json
from typing import Any

from tests.browser.page import Page

START = """window.worker?.terminate(); window.worker = new Worker("/core_world.js", {type: "module"});
window.heard = () => new Promise((resolve, reject) => {
    worker.onmessage = ({data}) => (data.error ? reject(new Error(data.error)) : resolve(JSON.parse(data.value)));
    worker.onerror = (event) => reject(new Error(`${event.message} ${event.filename}:${event.lineno}`));
});
heard()"""


class Core:
    """`run` evaluates a script in the world of core_world.js, which names what there is."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.run(START)

    def run(self, script: str) -> Any:
        """What the script comes to, once nothing is left to do but wait."""
        return self.page.run(f"worker.postMessage({json.dumps(script)}), heard()")

    def answer(self, line: str, data: Any = None, *, status: int = 200, **headers: str) -> None:
        """Answer the first waiting request whose "METHOD path" begins so."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.run(f"answer({json.dumps(line)}, {status}, {json.dumps(data)}, {json.dumps(named)})")

    def news(self, unread: int, etag: str = '"1"') -> None:
        self.answer("GET /live", {"unread": unread, "capped": False}, ETag=etag)

    def rows(self, *ids: int, cursor: str | None = None, line: str = "GET ?status") -> None:
        """Answer a list with unread rows of these ids, the smaller the newer."""
        self.run(
            f"answer({json.dumps(line)}, 200, {{data: {list(ids)}.map((id) => row(id)), next_cursor: {json.dumps(cursor)}}})"
        )

    def lose(self, line: str) -> None:
        self.run(f"lose({json.dumps(line)})")

    def pass_time(self, seconds: float) -> None:
        self.run(f"pass({seconds})")

    @property
    def waiting(self) -> list[str]:
        """The requests that have no answer yet, as "METHOD path"."""
        found: list[str] = self.run("waiting()")
        return found

    @property
    def rest(self) -> float | None:
        """How many seconds it will do nothing by itself."""
        found: float | None = self.run("rest()")
        return found

    @property
    def told(self) -> list[str]:
        """What the listeners and the view were told since this was read last."""
        found: list[str] = self.run("told.splice(0)")
        return found

    @property
    def shown(self) -> tuple[str, int]:
        """The ids of the rows, and how many are unread."""
        ids, unread = self.run("shown()")
        return ids, unread
