"""Files for browsers that a function brings along: the bell with a page to try it on, and the console."""

import gzip
import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from urllib.parse import parse_qs

from tocsin.http import problems
from tocsin.http.door import Endpoint, Request, Response

_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
_VERSION = {
    "name": "v",
    "in": "query",
    "description": "The version of the file that is meant: with the right one the answer may be kept for a year",
    "schema": {"type": "string"},
}
_FOR_A_YEAR = "public, max-age=31536000, immutable"
_FOR_MINUTES = "public, max-age=300, must-revalidate"
_NEVER_UNASKED = "public, no-cache"
# avatars and icons come from anywhere
_BELL_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' https: data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_CONSOLE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# What a template makes is shown in a frame of no origin at all, which can load nothing and call nobody.
_PREVIEW = "preview.html"
_PREVIEW_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


def version_of(content: bytes) -> str:
    """What an import of this file carries as its `?v=`, so that no cache ever has an old part for a new one."""
    return hashlib.sha256(content).hexdigest()[:16]


@lru_cache
def version_of_all(folder: Path) -> str:
    """The version of files that belong together: a part of their address, so that their imports need none."""
    together = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        together.update(f"{path.name} {version_of(path.read_bytes())}\n".encode())
    return together.hexdigest()[:16]


def serve(folder: Path) -> list[Endpoint]:
    """The bell's files under /inbox/, pages without their ending."""
    return [
        Endpoint(
            "GET /inbox/{asset}",
            None,
            _bell_reader(folder),
            "The bell for web pages (tocsin-inbox.js) and a page to try it on (demo)",
            parameters=[_VERSION],
            answers={304: "Not changed", 404: "No such file"},
            answer_types=("text/javascript", "text/html"),
            is_link=True,
        )
    ]


def serve_console(folder: Path) -> list[Endpoint]:
    """The console's page, and its files under a version that they all share."""
    told = {304: "Not changed", 404: "No such file"}
    kinds = tuple(kind.partition(";")[0] for kind in _TYPES.values())

    def get_console(request: Request) -> Response:
        return _console_file(folder, "index.html", None, request)

    def get_console_file(request: Request) -> Response:
        return _console_file(folder, request.path_parameters.get("asset", ""), None, request)

    def get_console_file_of_version(request: Request) -> Response:
        asked = request.path_parameters
        return _console_file(folder, asked.get("asset", ""), asked.get("version"), request)

    return [
        Endpoint(
            "GET /console", None, get_console, "The console, a page", answers=told, answer_types=("text/html",), is_link=True
        ),
        Endpoint(
            "GET /console/{asset}", None, get_console_file, "A file of the console",
            answers=told, answer_types=kinds, is_link=True,
        ),
        Endpoint(
            "GET /console/{version}/{asset}", None, get_console_file_of_version,
            "A file of the console in a version, which may be kept for a year",
            answers=told, answer_types=kinds, is_link=True,
        ),
    ]  # fmt: skip


def _bell_reader(folder: Path) -> Callable[[Request], Response]:
    def get_asset(request: Request) -> Response:
        name = request.path_parameters.get("asset", "")
        path = _file(folder, name if "." in name else f"{name}.html")
        content = path.read_bytes()
        caching = _caching(parse_qs(request.raw_query).get("v"), version_of(content))
        # the bell is made for other sites' pages
        return _answer(request, path, content, caching, _BELL_POLICY, {"Cross-Origin-Resource-Policy": "cross-origin"})

    return get_asset


def _console_file(folder: Path, name: str, asked: str | None, request: Request) -> Response:
    path = _file(folder, name)
    version = version_of_all(folder)
    content = path.read_bytes()
    if path.suffix == ".html":
        content = content.replace(b"{version}", version.encode())
    caching = _caching([asked], version) if asked and path.suffix != ".html" else _NEVER_UNASKED
    policy = _PREVIEW_POLICY if path.name == _PREVIEW else _CONSOLE_POLICY
    return _answer(request, path, content, caching, policy, {"Cross-Origin-Opener-Policy": "same-origin"})


def _file(folder: Path, name: str) -> Path:
    known = {path.name: path for path in folder.iterdir() if path.suffix in _TYPES}
    if name not in known:
        raise problems.not_found("file")
    return known[name]


def _answer(request: Request, path: Path, content: bytes, caching: str, policy: str, more: dict[str, str]) -> Response:
    tag = f'"{version_of(content)}"'
    headers = {
        "Content-Type": _TYPES[path.suffix],
        "ETag": tag,
        "Vary": "Accept-Encoding, Origin",  # API Gateway names the asking page's origin in the answer
        "Cache-Control": caching,
        "Referrer-Policy": "no-referrer",
        "Content-Security-Policy": policy,
    } | more
    if tag in request.headers.get("if-none-match", ""):
        return Response(304, None, headers)
    if "gzip" in request.headers.get("accept-encoding", ""):  # HTTP APIs do not compress by themselves
        return Response(200, _compressed(content), headers | {"Content-Encoding": "gzip"})
    return Response(200, content.decode(), headers)


@lru_cache(maxsize=64)
def _compressed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def _caching(asked: list[str] | None, version: str) -> str:
    """While an update is rolled out, an old door may be asked for a new file: its answer must not be kept under that name."""
    if asked is None:
        return _FOR_MINUTES
    return _FOR_A_YEAR if asked == [version] else _NEVER_UNASKED
