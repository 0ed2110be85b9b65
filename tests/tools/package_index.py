"""A package index on this machine: it serves what it is given, and answers what it is told."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Index:
    url: str
    pages: dict[str, bytes] = field(default_factory=dict)
    status: int = 200
    silent: bool = False  # takes the call, and says nothing until it is stopped
    asked: list[tuple[str, str]] = field(default_factory=list)  # path, Authorization


@contextmanager
def serving() -> Iterator[Index]:
    stopped = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            index.asked.append((self.path, self.headers.get("Authorization", "")))
            if index.silent:
                stopped.wait(60)
                return
            content = index.pages.get(self.path)
            status = index.status if index.status != 200 or content is not None else 404
            self.send_response(status)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    index = Index(f"http://127.0.0.1:{server.server_port}/simple")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield index
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
