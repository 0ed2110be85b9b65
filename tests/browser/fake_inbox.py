"""The inbox part of the HTTP API in memory, and a page that embeds the element: for tests that look at the browser's side."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

Row = dict[str, Any]

WEB = Path(__file__).parents[2] / "functions" / "inbox_api" / "web"
CORE_WORLD = Path(__file__).with_name("core_world.js")
STATIC = {"/inbox/demo": ("demo.html", "text/html; charset=utf-8")} | {
    f"/inbox/{path.name}": (path.name, "text/javascript; charset=utf-8") for path in WEB.glob("*.js")
}
DEMO_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' https: data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# Stricter than the demo's: the element must not need inline styles.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src http://127.0.0.1:*; require-trusted-types-for 'script'"
)
NONCE_POLICY = POLICY.replace("script-src 'self'", "script-src 'nonce-once' 'strict-dynamic'")
# What API Gateway adds for the origins that the template names.
CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, PUT, POST, PATCH, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, If-None-Match",
    "Access-Control-Expose-Headers": "ETag, Retry-After",
}
PAGE = """<!doctype html><html lang="en" dir="{dir}"><meta charset="utf-8"><title>Test</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<script type="module" nonce="once" src="/inbox/tocsin-inbox.js"></script>
<header><button id="before">Before</button> <tocsin-inbox {attributes}></tocsin-inbox></header><p>Elsewhere</p></html>"""
PATIENCE = 15.0
CHANNELS = ("email", "sms", "push", "in_app")


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    path: str
    query: dict[str, str]
    body: Any
    headers: dict[str, str]
    at: float = field(default_factory=time.monotonic, compare=False)  # when it came


@dataclass(slots=True)
class Trouble:
    """What requests that match are answered with instead."""

    match: re.Pattern[str]
    status: int
    body: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Answer:
    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


class FakeInbox:
    def __init__(self) -> None:
        self.url = ""
        self.tokens = {"good"}
        self.rows: list[Row] = []
        self.threads: dict[str, bool] = {}
        self.rules: dict[str, Row] = {}
        self.types: list[Row] = []
        self.unreachable: dict[str, str] = {}  # channels, and why
        self.seen_at = ""
        self.files = {  # beside the bell's: what is in them, and of which type they are
            "/core_world.js": (CORE_WORLD.read_text(), "text/javascript; charset=utf-8"),
            "/blank": ("<!doctype html><title>Blank</title>", "text/html; charset=utf-8"),
        }
        self.asked: list[Asked] = []
        self.answered: list[Asked] = []
        self.trouble: list[Trouble] = []
        self.gate = threading.Event()  # while it is not set, changes wait
        self.gate.set()
        self.changed = threading.Condition(threading.RLock())
        self.version = 1
        self.is_closing = False

    # What tests do and look at.

    def page(self, attributes: str = 'token="good"', *, direction: str = "ltr", policy: str = POLICY) -> str:
        return f"{self.url}/page?{urlencode({'dir': direction, 'attributes': attributes, 'policy': policy})}"

    def add(self, title: str, **values: Any) -> Row:
        """One more row, newer than all others unless told when."""
        with self.changed:
            number = len(self.rows) + 1
            now = datetime.now(UTC) - timedelta(seconds=values.pop("age", 0))
            row: Row = {
                "id": f"0190a0b0-0000-7000-8000-{number:012d}",
                "kind": "order.shipped",
                "reason": "intent",
                "scope": None,
                "thread": None,
                "title": title,
                "message": None,
                "summary": {},
                "event_count": 1,
                "unread": True,
                "read_at": None,
                "last_event_at": _shown(now),
                "last_actor": (values.get("actor") or {}).get("id"),
                "created_at": _shown(now),
                "done_at": None,
                "saved_at": None,
                "snoozed_until": None,
                "for_everyone": False,
                "url": None,
                "actions": [],
                "severity": "info",
                "icon": None,
                "actor": None,
                "type_title": None,
                "hidden": False,
            } | values
            self.rows.append(row)
            self._bump()
            return row

    def refuse(self, match: str, status: int, *, headers: dict[str, str] | None = None, **problem: Any) -> Trouble:
        """Answer requests whose "METHOD path" matches with this problem, until `well` is called."""
        body = {"type": "refused", "title": "Refused", "status": status} | problem
        trouble = Trouble(re.compile(match), status, body, headers or {})
        self.trouble.append(trouble)
        return trouble

    def well(self) -> None:
        self.trouble.clear()

    def requests(self, match: str, number: int | None = None, *, answered: bool = False) -> list[Asked]:
        """The requests whose "METHOD path" matches so far; with a number, once there are as many."""
        deadline = time.monotonic() + PATIENCE
        while True:
            so_far = list(self.answered if answered else self.asked)
            found = [each for each in so_far if re.search(match, f"{each.method} {each.path}")]
            if number is None or len(found) >= number:
                return found
            assert time.monotonic() < deadline, f"{len(found)} requests, not {number}: {found}"
            time.sleep(0.01)

    def sent(self, match: str, number: int) -> list[Any]:
        """The bodies of so many changes, once the server has made them all."""
        return [each.body for each in self.requests(match, number, answered=True)]

    def unread(self) -> int:
        return sum(1 for row in self.rows if row["unread"] and _is_here(row))

    def unseen(self) -> int:
        return sum(1 for row in self.rows if row["unread"] and _is_here(row) and not self._is_seen(row))

    def _is_seen(self, row: Row) -> bool:
        return str(row["last_event_at"]) <= self.seen_at

    # The API.

    def answer(self, asked: Asked) -> Answer:
        if asked.path in self.files:
            content, kind = self.files[asked.path]
            return Answer(200, content, {"Content-Type": kind})
        if found := STATIC.get(asked.path):
            name, kind = found
            return Answer(200, (WEB / name).read_text(), {"Content-Type": kind, "Content-Security-Policy": DEMO_POLICY})
        if asked.path == "/page":
            page = PAGE.format(dir=asked.query["dir"], attributes=asked.query["attributes"])
            return Answer(
                200,
                page,
                {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": asked.query.get("policy", POLICY)},
            )
        if asked.method == "OPTIONS":
            return Answer(204)
        if not asked.path.startswith("/v1/inbox"):
            return Answer(404, {"title": "Not found"})
        self.asked.append(asked)
        for trouble in list(self.trouble):
            if trouble.match.search(f"{asked.method} {asked.path}"):
                return Answer(trouble.status, trouble.body, trouble.headers)
        if asked.headers.get("authorization") not in {f"Bearer {token}" for token in self.tokens}:
            return Answer(401, {"type": "unauthorized", "title": "The token is not valid", "status": 401})
        if asked.method != "GET":
            self.gate.wait(10)
        rest = unquote(asked.path.removeprefix("/v1/inbox"))
        routes: list[tuple[str, Callable[..., Answer]]] = [
            (r"GET ", self._list),
            (r"GET /unread-count", self._count),
            (r"GET /live", self._live),
            (r"POST /read-all", self._read_all),
            (r"POST /done-all", self._done_all),
            (r"POST /seen", self._see),
            (r"(?:GET|PUT|DELETE) /threads/(.+)", self._thread),
            (r"GET /preferences", self._preferences),
            (r"(?:GET|PUT|DELETE) /preferences/(\w+)", self._rule),
            (r"PATCH /([\w-]+)", self._patch),
            (r"DELETE /([\w-]+)", self._hide),
        ]
        for pattern, run in routes:
            if match := re.fullmatch(pattern, f"{asked.method} {rest}"):
                return run(asked, *match.groups())
        return Answer(404, {"title": "Not found"})

    def _list(self, asked: Asked) -> Answer:
        with self.changed:
            wanted = FILTERS[asked.query.get("status", "all")]
            kinds = asked.query.get("kind", "*").split(",")
            found = [row for row in self.rows if wanted(row) and any(fnmatchcase(row["kind"], kind) for kind in kinds)]
            rows = sorted(found, key=lambda row: str(row["last_event_at"]), reverse=True)
            start, limit = int(asked.query.get("cursor", "0")), int(asked.query.get("limit", "50"))
            following = str(start + limit) if len(rows) > start + limit else None
            return Answer(200, {"data": [self._public(row) for row in rows[start : start + limit]], "next_cursor": following})

    def _count(self, asked: Asked) -> Answer:
        if asked.headers.get("if-none-match") == self._etag():
            return Answer(304, headers={"ETag": self._etag()})
        unread = self.unread()
        counts = {"unread": min(unread, 1000), "unseen": min(self.unseen(), 1000), "capped": unread >= 1000}
        return Answer(200, counts, {"ETag": self._etag()})

    def _live(self, asked: Asked) -> Answer:
        seen = asked.headers.get("if-none-match")
        with self.changed:
            self.changed.wait_for(lambda: self.is_closing or self._etag() != seen, float(asked.query.get("wait", "20")))
            return self._count(asked)

    def _patch(self, asked: Asked, row_id: str) -> Answer:
        with self.changed:
            row = next(row for row in self.rows if row["id"] == row_id)
            now = _shown(datetime.now(UTC))
            for name, value in asked.body.items():
                if name == "read":
                    row |= {"unread": not value, "read_at": now if value else None}
                elif name == "snoozed_until":
                    row["snoozed_until"] = value
                else:
                    row[f"{name}_at"] = now if value else None
                    row["unread"] = row["unread"] and not (name == "done" and value)  # what is done is read
            self._bump()
            return Answer(200, self._public(row))

    def _hide(self, asked: Asked, row_id: str) -> Answer:
        with self.changed:
            next(row for row in self.rows if row["id"] == row_id)["hidden"] = True
            self._bump()
            return Answer(204)

    def _read_all(self, asked: Asked) -> Answer:
        """Two at a time, so that the page has to ask again."""
        with self.changed:
            until = asked.body.get("before", "9999")
            due = [row for row in self.rows if row["unread"] and row["last_event_at"] <= until]
            for row in due[:2]:
                row["unread"] = False
            self._bump()
            return Answer(200, {"marked": len(due[:2]), "more": len(due) > 2})

    def _done_all(self, asked: Asked) -> Answer:
        with self.changed:
            until, now = asked.body.get("before", "9999"), _shown(datetime.now(UTC))
            wanted = FILTERS[asked.body.get("status", "all")]
            due = [row for row in self.rows if wanted(row) and row["last_event_at"] <= until]
            for row in due[:2]:
                row |= {"done_at": now, "unread": False}
            self._bump()
            return Answer(200, {"marked": len(due[:2]), "more": len(due) > 2})

    def _see(self, asked: Asked) -> Answer:
        with self.changed:
            self.seen_at = asked.body.get("before", _shown(datetime.now(UTC)))
            self._bump()
            return Answer(200, {"unseen": 0})

    def _thread(self, asked: Asked, thread: str) -> Answer:
        if asked.method == "PUT":
            self.threads[thread] = asked.body["subscribed"]
        if asked.method == "DELETE":
            self.threads.pop(thread, None)
            return Answer(204)
        kind, _, name = thread.partition("/")
        subscribed = self.threads.get(thread)
        return Answer(200, {"thread": {"kind": kind, "id": name}, "subscribed": subscribed, "reason": None, "updated_at": None})

    def _preferences(self, asked: Asked) -> Answer:
        finer = {"channel": "email", "notification_type": "order.shipped", "enabled": False, "updated_at": "2026-01-01T00:00:00Z"}
        reasons = [(channel, self.unreachable.get(channel)) for channel in CHANNELS]
        channels = [{"channel": channel, "reachable": reason is None, "reason": reason} for channel, reason in reasons]
        rules = [*[self._rule_of(channel) for channel in CHANNELS], finer]
        return Answer(200, {"data": rules, "channels": channels, "types": [self._type(one) for one in self.types]})

    def _type(self, one: Row) -> Row:
        """Each channel as its own rule says, else as the channel's."""

        def enabled(channel: str) -> bool:
            return bool(self.rules.get(f"{channel} {one['name']}", self._rule_of(channel))["enabled"])

        shown = [{"channel": channel, "enabled": enabled(channel)} for channel in one["channels"]]
        return {"title": None, "description": None, "locked": False} | one | {"channels": shown}

    def _rule(self, asked: Asked, channel: str) -> Answer:
        if asked.method == "PUT":
            cap = asked.body.get("frequency_cap")
            errors = []
            if cap is not None and not 1 <= cap <= 1000:
                errors.append({"pointer": "/frequency_cap", "message": "must be from 1 to 1000"})
            if ("quiet_hours_start" in asked.body) != ("quiet_hours_end" in asked.body):
                errors.append({"pointer": "", "message": "quiet hours need both ends"})
            if errors:
                return Answer(422, {"title": "The request is not valid", "detail": "Not the expected shape.", "errors": errors})
            name = " ".join(filter(None, [channel, asked.query.get("type")]))
            self.rules[name] = asked.body | {"updated_at": _shown(datetime.now(UTC))}
        return Answer(200, self._rule_of(channel))

    def _rule_of(self, channel: str) -> Row:
        default: Row = {"enabled": True, "frequency_cap": None, "quiet_hours_start": None, "quiet_hours_end": None}
        default |= {"timezone": "UTC", "updated_at": None}
        return {"channel": channel, "notification_type": None} | default | self.rules.get(channel, {})

    def _public(self, row: Row) -> Row:
        return {name: value for name, value in row.items() if name != "hidden"} | {"seen": self._is_seen(row)}

    def _etag(self) -> str:
        return f'"{self.version}"'

    def _bump(self) -> None:
        self.version += 1
        self.changed.notify_all()

    def close(self) -> None:
        with self.changed:
            self.is_closing = True
            self.gate.set()
            self.changed.notify_all()


def _is_snoozed(row: Row) -> bool:
    return bool(row["snoozed_until"]) and datetime.fromisoformat(row["snoozed_until"]) > datetime.now(UTC)


def _is_here(row: Row) -> bool:
    return not row["hidden"] and not row["done_at"] and not _is_snoozed(row)


FILTERS: dict[str, Callable[[Row], Any]] = {
    "all": _is_here,
    "unread": lambda row: _is_here(row) and row["unread"],
    "read": lambda row: _is_here(row) and not row["unread"],
    "saved": lambda row: not row["hidden"] and row["saved_at"],
    "snoozed": lambda row: not row["hidden"] and not row["done_at"] and _is_snoozed(row),
    "done": lambda row: not row["hidden"] and row["done_at"],
}


def _shown(when: datetime) -> str:
    return when.isoformat().replace("+00:00", "Z")


@contextmanager
def serving(inbox: FakeInbox) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(
                self.command,
                parts.path,
                dict(parse_qsl(parts.query, keep_blank_values=True)),
                json.loads(raw) if raw else None,
                headers,
            )
            answer = inbox.answer(asked)
            inbox.answered.append(asked)
            body = b"" if answer.body is None else answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
            sent = body.encode() if isinstance(body, str) else body
            self.send_response(answer.status)
            for name, value in ({"Content-Type": "application/json"} | CORS | answer.headers).items():
                self.send_header(name, value)
            if answer.status not in (204, 304):
                self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent if answer.status not in (204, 304) else b"")

        do_OPTIONS = do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815  the names that http.server looks for

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the tests read `asked`."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A browser that hangs up on a waiting question is no error."""

    server = Server(("127.0.0.1", 0), Handler)
    inbox.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        inbox.close()
        server.shutdown()
        server.server_close()
        thread.join()
