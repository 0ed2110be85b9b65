"""What the local pages are made of: their files, the frame that all of them share, and the policy they are served under."""

from html import escape
from pathlib import Path
from string import Template

from devstack.http_event import Answer

FOLDER = Path(__file__).with_name("pages")
CONSOLE = Path(__file__).parents[1] / "functions" / "operate" / "web"
# The console's look and its words for what became of a notification: one of each is enough.
LENT = ("style.css", "theme.js", "bell.svg", "format.js", "reasons.js", "sentences.js", "became.js")
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
MENU = {"Start": "/_local/", "Mailbox": "/_local/mailbox", "Inboxes": "/_local/inbox", "Overview": "/_local/overview"}


def part(name: str) -> Template:
    """A page's own part of the HTML, read anew each time: a change of it needs no restart."""
    return Template((FOLDER / name).read_text(encoding="utf-8"))


def page(title: str, main: str, *, elsewhere: str = "", script: str = "", status: int = 200) -> Answer:
    """A whole page; `elsewhere` is where the API answers if not here, `script` the module that it runs."""
    links = (MENU | {"Console": f"{elsewhere}/console"}).items()
    content = part("frame.html").substitute(
        title=escape(title),
        menu="".join(_link(name, place, is_current=name == title) for name, place in links),
        script=f'<script type="module" src="/_local/files/{script}"></script>' if script else "",
        main=main,
    )
    # A form may lead to a redirect, and browsers hold that to the policy too.
    policy = POLICY.replace("form-action 'self'", f"form-action 'self' {elsewhere}") if elsewhere else POLICY
    return _answer(content.encode(), "text/html; charset=utf-8", policy, status)


def file(name: str) -> Answer | None:
    """A script, a stylesheet or the picture of the bell."""
    known = {path.name: path for path in FOLDER.iterdir()} | {each: CONSOLE / each for each in LENT}
    path = known.get(name)
    if path is None or path.suffix not in TYPES:
        return None
    return _answer(path.read_bytes(), TYPES[path.suffix], "default-src 'none'")


def _link(name: str, place: str, *, is_current: bool) -> str:
    current = ' aria-current="page"' if is_current else ""
    return f'<li><a href="{escape(place)}"{current}>{escape(name)}</a></li>'


def _answer(content: bytes, kind: str, policy: str, status: int = 200) -> Answer:
    headers = {
        "content-type": kind,
        "cache-control": "no-store",
        "content-security-policy": policy,
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin",
    }
    return Answer(status, list(headers.items()), content)
