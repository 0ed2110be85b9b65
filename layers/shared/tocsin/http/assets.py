"""Files for browsers that a function brings along: the bell, and a page to try it on."""

import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs

from tocsin.http import problems
from tocsin.http.door import Endpoint, Request, Response

_TYPES = {".js": "text/javascript; charset=utf-8", ".html": "text/html; charset=utf-8"}
_VERSION = {
    "name": "v",
    "in": "query",
    "description": "The version of the file that is meant: with the right one the answer may be kept for a year",
    "schema": {"type": "string"},
}
_FOR_A_YEAR = "public, max-age=31536000, immutable"
_FOR_MINUTES = "public, max-age=300, must-revalidate"
_NEVER_UNASKED = "public, no-cache"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def version_of(content: bytes) -> str:
    """What an import of this file carries as its `?v=`, so that no cache ever has an old part for a new one."""
    return hashlib.sha256(content).hexdigest()[:16]


def serve(folder: Path) -> list[Endpoint]:
    """The files of this folder under /inbox/, pages without their ending."""
    return [
        Endpoint(
            "GET /inbox/{asset}",
            None,
            _reader(folder),
            "The bell for web pages (tocsin-inbox.js) and a page to try it on (demo)",
            parameters=[_VERSION],
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
        content = known[name].read_bytes()
        version = version_of(content)
        tag = f'"{version}"'
        headers = {
            "Content-Type": _TYPES[known[name].suffix],
            "ETag": tag,
            "Vary": "Accept-Encoding, Origin",  # API Gateway names the asking page's origin in the answer
            "Cache-Control": _caching(request, version),
            "Referrer-Policy": "no-referrer",
            "Content-Security-Policy": _POLICY,
            "Cross-Origin-Resource-Policy": "cross-origin",  # the bell is made for other sites' pages
        }
        if tag in request.headers.get("if-none-match", ""):
            return Response(304, None, headers)
        if "gzip" in request.headers.get("accept-encoding", ""):  # HTTP APIs do not compress by themselves
            return Response(200, gzip.compress(content, mtime=0), headers | {"Content-Encoding": "gzip"})
        return Response(200, content.decode(), headers)

    return get_asset


def _caching(request: Request, version: str) -> str:
    """While an update is rolled out, an old door may be asked for a new file: its answer must not be kept under that name."""
    asked = parse_qs(request.raw_query).get("v")
    if asked is None:
        return _FOR_MINUTES
    return _FOR_A_YEAR if asked == [version] else _NEVER_UNASKED
