"""The post office's HTTP server: it carries requests in and replies, or silence, out."""

import socket
import sys
import threading
from collections.abc import Callable
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

from devstack.post_office.letters import Reply, Silence

Answer = Callable[[str, str, bytes, Message], Reply | Silence]


class Server(ThreadingHTTPServer):
    """Knows its open connections: a server that is stopped must not go on answering on those that clients keep."""

    request_queue_size = 128

    def __init__(self, port: int, answer: Answer, host: str = "127.0.0.1") -> None:
        self.answer = answer
        self.open: dict[socket.socket, threading.Thread] = {}
        self._serving: threading.Thread | None = None
        super().__init__((host, port), Handler)

    def server_bind(self) -> None:
        # Not HTTPServer's: it looks the host's name up, which takes seconds where there is no name service.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(target=self.process_request_thread, args=(request, client_address), daemon=True)
        self.open[request] = thread
        thread.start()

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self.open.pop(request, None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is none of our business; anything else is a fault of ours and is shown."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def start(self) -> None:
        # A short poll: it is how long stop() waits.
        self._serving = threading.Thread(target=self.serve_forever, args=(0.02,), name="post-office", daemon=True)
        self._serving.start()

    def stop(self) -> None:
        if self._serving:
            self.shutdown()
            self._serving.join()
        self.server_close()
        for connection, thread in list(self.open.items()):
            _hang_up(connection)
            thread.join(timeout=10)


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave in one packet
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._respond()

    do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 (the base class asks for these names)

    def _respond(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        answer = self.server.answer(self.command, self.path, body, self.headers)
        if isinstance(answer, Reply):
            self._send(answer)
            return
        self.close_connection = True
        if answer is Silence.HANG:
            self._wait_for_the_client_to_give_up()
        _hang_up(self.connection)

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def _wait_for_the_client_to_give_up(self) -> None:
        try:
            while self.connection.recv(1024):
                pass
        except OSError:  # reset, which is giving up too
            return

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the ledger is the log."""


def _hang_up(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # the other side was faster
        return
