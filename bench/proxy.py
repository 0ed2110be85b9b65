"""A wire between client and server that counts how often the client speaks and then waits for an answer."""

import selectors
import socket
import threading
from types import TracebackType
from typing import Self


class CountingProxy:
    """Listens on a port of its own and passes everything on. An exchange begins when the client speaks after an answer.

    Statements pipelined under one sync leave together and are answered together: one exchange."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.exchanges = 0

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._server_port))
            threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        client_spoke_last = False
        with client, server, selectors.DefaultSelector() as ready:
            ready.register(client, selectors.EVENT_READ, server)
            ready.register(server, selectors.EVENT_READ, client)
            while True:
                for key, _ in ready.select():
                    source: socket.socket = key.fileobj  # type: ignore[assignment]
                    data = source.recv(1 << 20)
                    if not data:
                        return
                    if source is client and not client_spoke_last:
                        self.exchanges += 1
                    client_spoke_last = source is client
                    key.data.sendall(data)
