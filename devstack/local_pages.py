"""What only a local stack has: a page to start from, the mailbox, a way into anybody's inbox, and an overview."""

from collections.abc import Callable
from html import escape
from typing import Any
from urllib.parse import parse_qs, urlencode

from devstack import page_files
from devstack.api_access import PREFIX, ApiAccess
from devstack.console_access import ConsoleAccess
from devstack.http_event import Answer, Request
from devstack.mailbox import letter_page, mailbox_html, mailbox_json
from devstack.overview import Overview
from devstack.people import People, RefusedError

FILES = "/_local/files/"


class LocalPages:
    def __init__(
        self,
        overview: Overview,
        *,
        letters: Callable[[], list[dict[str, Any]]],
        people: People,
        console: ConsoleAccess,
        api: ApiAccess,
        url: str,
        elsewhere: str = "",
        dev_json: str = ".local/dev.json",
    ) -> None:
        """`url` is where the API answers, `elsewhere` the same if that is not beside these pages; `dev_json` has the keys."""
        self._overview = overview
        self._letters = letters
        self._people = people
        self._console = console
        self._api = api
        self._url = url
        self._elsewhere = elsewhere
        self._dev_json = dev_json

    def __call__(self, request: Request) -> Answer:
        if request.raw_path == "/_local/faults" and request.method in {"GET", "PUT", "DELETE"}:
            return self._console.faults(request)
        if request.raw_path.startswith(f"{PREFIX}/") and request.method in {"GET", "POST"}:
            return self._api.carry_out(request)
        if request.method not in {"GET", "HEAD"}:
            return Answer.json(405, {"message": "Method Not Allowed"})
        return self._got(request) or self._nothing(request)

    def _got(self, request: Request) -> Answer | None:
        query = parse_qs(request.query)
        wants_page = _wants_page(request)
        match request.raw_path.rstrip("/"):
            case "/_local/mailbox":
                return self._mailbox(query.get("to", []), wants_page=wants_page)
            case "/_local/mailbox/letter":
                return letter_page(self._letters(), query.get("id", [""])[0])
            case "/_local/inbox":
                return self._inbox(query.get("user", [""])[0], wants_page=wants_page)
            case "/_local/session":
                return self._console.session(request)
            case "/_local" | "/_local/overview" if not wants_page:
                return Answer.json(200, self._overview.as_json())
            case "/_local":
                return self._page("Start", self._start(), script="start.js")
            case "/_local/overview":
                return self._page("Overview", self._overview.as_html(self._elsewhere))
            case "":
                return Answer(303, [("location", "/_local/"), ("cache-control", "no-store")], b"")
            case "/favicon.ico":
                return page_files.file("bell.svg")
            case path if path.startswith(FILES):
                return page_files.file(path.removeprefix(FILES))
        return None

    def _start(self) -> str:
        told = {"url": self._url, "elsewhere": self._elsewhere, "dev_json": self._dev_json}
        return page_files.part("start.html").substitute({name: escape(value) for name, value in told.items()})

    def _mailbox(self, recipients: list[str], *, wants_page: bool) -> Answer:
        rows = self._letters()
        if recipients:
            rows = [row for row in rows if set(recipients) & set(row["to"])]
        if not wants_page:
            return Answer.json(200, mailbox_json(rows))
        return self._page("Mailbox", mailbox_html(rows, recipients), script="mailbox.js")

    def _inbox(self, user_id: str, *, wants_page: bool) -> Answer:
        """The demonstration page as this user sees it; without one, a choice of users."""
        try:
            if user_id:
                # After the #, where no server and no log gets to see it.
                place = f"{self._elsewhere}/inbox/demo#{urlencode({'token': self._people.token(user_id)})}"
                return Answer(303, [("location", place), ("cache-control", "no-store")], b"")
            known = self._people.known()
        except RefusedError as error:
            if not wants_page:
                return Answer.json(error.status, error.answer)
            return self._page("Inboxes", _choice(user_id, [], refusal=error), status=error.status)
        return self._page("Inboxes", _choice("alice", known)) if wants_page else Answer.json(200, {"users": known})

    def _nothing(self, request: Request) -> Answer:
        if not _wants_page(request):
            return Answer.json(404, {"message": "Not Found"})
        return self._page("Nothing here", page_files.part("nothing.html").template, status=404)

    def _page(self, title: str, main: str, *, script: str = "", status: int = 200) -> Answer:
        return page_files.page(title, main, elsewhere=self._elsewhere, script=script, status=status)


def _wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


def _choice(asked: str, user_ids: list[str], *, refusal: RefusedError | None = None) -> str:
    links = "".join(f'<li><a href="?{escape(urlencode({"user": each}))}">{escape(each)}</a></li>' for each in user_ids)
    said = f'<p class="notice bad" role="alert">{escape(refusal.said)}</p>' if refusal else ""
    known = f'<h2>Made last</h2><ul class="people">{links}</ul>' if links else ""
    return page_files.part("inbox.html").substitute(asked=escape(asked), refusal=said, known=known)
