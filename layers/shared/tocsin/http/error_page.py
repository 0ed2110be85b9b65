"""The error page of an installation: where the `type` of every problem leads."""

import re
from html import escape

from tocsin.http.door import Response
from tocsin.http.html_page import html_page
from tocsin.http.problem_kinds import AREAS, Kind

_STYLE = (
    "body { font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem; } "
    "h2 { margin-top: 3rem } h3 { margin: 2rem 0 .25rem; font-family: ui-monospace, monospace; font-size: 1rem } "
    "h3 a { color: inherit; text-decoration: none } h3 a:hover { text-decoration: underline } p { margin: .25rem 0 } "
    "section { padding: .1rem .75rem .75rem; margin: 0 -.75rem; border-radius: .5rem } code { font-size: .9em } "
    "section:target { background: color-mix(in srgb, Highlight 18%, Canvas) } .status { font-weight: normal }"
)


def error_page() -> Response:
    """Every problem the API answers with, by area."""
    content = "<p>What the <code>type</code> of a problem means, and what to do about it.</p>" + "".join(
        f"<h2>{escape(area)}</h2>" + "".join(map(_entry, kinds)) for area, kinds in AREAS.items()
    )
    return html_page("Errors", content, style=_STYLE)


def _entry(kind: Kind) -> str:
    return (
        f'<section id="{kind.name}"><h3><a href="#{kind.name}">{kind.name}</a> <span class="status">{kind.status}</span></h3>'
        f"<p>{_words(kind.cause)}</p><p><strong>What to do:</strong> {_words(kind.fix)}</p></section>"
    )


def _words(text: str) -> str:
    """Words as the register writes them: what stands in backquotes is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
