"""Files for browsers that a function brings along: the bell, and a page to try it on."""

import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path

from tocsin import problems
from tocsin.http import Endpoint, Request, Response

_TYPES = {".js": "text/javascript; charset=utf-8", ".html": "text/html; charset=utf-8"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def serve(folder: Path) -> list[Endpoint]:
    """The files of this folder under /inbox/, pages without their ending."""
    return [
        Endpoint(
            "GET /inbox/{asset}",
            None,
            _reader(folder),
            "The bell for web pages (tocsin-inbox.js) and a page to try it on (demo)",
            answers={304: "Not changed", 404: "No such file"},
            answer_types=tuple(kind.partition(";")[0] for kind in _TYPES.values()),
            is_link=True,
        )
    ]


def _reader(folder: Path) -> Callable[[Request], Response]:
    def get_asset(request: Request) -> Response:
        name = request.path_parameters.get("asset", "")
        name = name if "." in name else f"{name}.html"
        known = {path.name: path for path in folder.iterdir() if path.suffix in _TYPES}
        if name not in known:
            raise problems.not_found("file")
        content = known[name].read_text("utf-8")
        tag = f'"{hashlib.sha256(content.encode()).hexdigest()[:32]}"'
        headers = {
            "Content-Type": _TYPES[known[name].suffix],
            "ETag": tag,
            "Vary": "Accept-Encoding",
            "Cache-Control": "public, max-age=300, must-revalidate",
            "Referrer-Policy": "no-referrer",
            "Content-Security-Policy": _POLICY,
            "Cross-Origin-Resource-Policy": "cross-origin",  # the bell is made for other sites' pages
        }
        if tag in request.headers.get("if-none-match", ""):
            return Response(304, None, headers)
        if "gzip" in request.headers.get("accept-encoding", ""):  # HTTP APIs do not compress by themselves
            return Response(200, gzip.compress(content.encode(), mtime=0), headers | {"Content-Encoding": "gzip"})
        return Response(200, content, headers)

    return get_asset
