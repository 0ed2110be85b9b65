"""A server that speaks TLS as Postgres does, with a certificate that vouches for itself, and then is always just starting up."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.unit.certificates import make_certificate

STARTING_UP = b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"


@contextmanager
def encrypted(folder: Path) -> Iterator[tuple[int, Path]]:
    """The server's port and its certificate, which is for localhost. It takes one connection."""
    certificate = make_certificate(folder, "localhost")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(30)

        def serve() -> None:
            with suppress(OSError), listening.accept()[0] as wire:
                wire.recv(8)  # may we speak TLS?
                wire.sendall(b"S")
                with tls.wrap_socket(wire, server_side=True) as trusted:
                    trusted.recv(1024)
                    trusted.sendall(b"E" + (len(STARTING_UP) + 4).to_bytes(4, "big") + STARTING_UP)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1], certificate
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)  # whom nobody called need not wait any longer
        thread.join(30)
