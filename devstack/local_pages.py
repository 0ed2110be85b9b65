"""What only a local stack has: a page that says where everything is, the mailbox, and a way into anybody's inbox."""

from collections.abc import Callable
from html import escape
from typing import Any
from urllib.parse import parse_qs, urlencode

from devstack.console_access import ConsoleAccess
from devstack.declared import Declared
from devstack.http_event import Answer, Request
from devstack.mailbox import mailbox_html, mailbox_json
from devstack.people import People, RefusedError

HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Tocsin · local</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<style>body {{ font: 15px/1.6 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem }}
td, th {{ text-align: left; padding: 0 1.5rem 0 0; font-weight: normal }} th {{ opacity: .65 }}
code {{ font-size: .9em }} input, button {{ font: inherit }}</style>
"""
PAGE = (
    HEAD
    + """<h1>Tocsin, on this machine</h1>
<p><a href="{elsewhere}/console"><strong>Open the console</strong></a>, already signed in: what is happening, why somebody did not
get it, templates, people. It can <a href="{elsewhere}/console#/demo">fill this stack with a lively demo</a>.</p>
<p>The API answers at <code>{url}</code>. <a href="/_local/mailbox">Mailbox</a> · <a href="/_local/inbox">Inbox</a> ·
<a href="{elsewhere}/health">Health</a> · <a href="{elsewhere}/ready">Ready</a> ·
<a href="{elsewhere}/v1/openapi.json">OpenAPI</a></p>
<h2>Queues</h2><table><tr><th>queue<th>waiting<th>in flight</tr>{queues}</table>
<h2>Routes</h2><table>{routes}</table>
<h2>Schedules</h2><table>{schedules}</table>
</html>"""
)
INBOX = (
    HEAD
    + """<h1>Whose inbox?</h1>
<form><label>User <input name="user" value="alice" maxlength="255" required autofocus></label> <button>Open</button></form>
<p>Somebody new is made on the way. {known}</p>
</html>"""
)


class LocalPages:
    def __init__(
        self,
        url: str,
        declared: Declared,
        *,
        letters: Callable[[], list[dict[str, Any]]],
        depths: Callable[[], dict[str, dict[str, int]]],
        people: People,
        console: ConsoleAccess,
        elsewhere: str = "",
    ) -> None:
        """`elsewhere` is where the API answers, if that is not beside these pages."""
        self._url = url
        self._elsewhere = elsewhere
        self._declared = declared
        self._letters = letters
        self._depths = depths
        self._people = people
        self._console = console

    def __call__(self, request: Request) -> Answer:
        if request.raw_path == "/_local/faults" and request.method in {"GET", "PUT", "DELETE"}:
            return self._console.faults(request)
        if request.method not in {"GET", "HEAD"}:
            return Answer.json(405, {"message": "Method Not Allowed"})
        wants_page = "text/html" in request.headers.get("accept", "")
        match request.raw_path.rstrip("/"):
            case "/_local/mailbox":
                rows = self._letters()
                return _html(mailbox_html(rows)) if wants_page else Answer.json(200, mailbox_json(rows))
            case "/_local/inbox":
                return self._inbox(parse_qs(request.query).get("user", [""])[0], wants_page=wants_page)
            case "/_local/session":
                return self._console.session(request)
            case "/_local":
                return _html(self._index()) if wants_page else Answer.json(200, self._overview())
        return Answer.json(404, {"message": "Not Found"})

    def _inbox(self, user_id: str, *, wants_page: bool) -> Answer:
        """The demonstration page as this user sees it; without one, a choice of users."""
        try:
            if user_id:
                # After the #, where no server and no log gets to see it.
                place = f"{self._elsewhere}/inbox/demo#{urlencode({'token': self._people.token(user_id)})}"
                return Answer(303, [("location", place), ("cache-control", "no-store")], b"")
            known = self._people.known()
        except RefusedError as error:
            return Answer.json(error.status, error.answer)
        return _html(INBOX.format(known=_links(known))) if wants_page else Answer.json(200, {"users": known})

    def _overview(self) -> dict[str, Any]:
        return {
            "base_url": self._url,
            "pages": ["/console", "/_local/", "/_local/mailbox", "/_local/inbox", "/health", "/ready", "/v1/openapi.json"],
            "queues": self._counted(),
            "routes": [route.key for route in self._declared.routes],
            "schedules": {each.name: each.expression for each in self._declared.schedules},
        }

    def _index(self) -> str:
        overview = self._overview()
        queues = [(name, depth["waiting"], depth["in_flight"]) for name, depth in overview["queues"].items()]
        routes = [(route.key, route.function) for route in self._declared.routes]
        return PAGE.format(
            url=escape(self._url),
            elsewhere=escape(self._elsewhere),
            queues=_rows(queues),
            routes=_rows(routes),
            schedules=_rows(overview["schedules"].items()),
        )

    def _counted(self) -> dict[str, dict[str, int]]:
        try:
            return self._depths()
        except Exception:  # AWS is down, which is worth seeing on a page that still works
            return {queue.name: {"waiting": -1, "in_flight": -1} for queue in self._declared.queues}


def _rows(rows: Any) -> str:
    return "".join("<tr>" + "".join(f"<td>{escape(str(cell))}" for cell in row) + "</tr>" for row in rows)


def _links(user_ids: list[str]) -> str:
    return " · ".join(f'<a href="?{escape(urlencode({"user": each}))}">{escape(each)}</a>' for each in user_ids)


def _html(page: str) -> Answer:
    headers = [("content-type", "text/html; charset=utf-8"), ("cache-control", "no-store")]
    return Answer(200, headers, page.encode())
