"""Web servers on loopback that say what a test wants, a service account, and addresses where nobody listens."""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from devstack.post_office.letters import Reply, Silence
from devstack.post_office.wire import Server

Answer = Reply | Silence


@dataclass
class Scripted:
    """Gives the same answer to everything and remembers what it was asked."""

    url: str
    asked: list[tuple[str, str, bytes, Message]] = field(default_factory=list)


@contextmanager
def answering(answer: Answer | Callable[[str], Answer]) -> Iterator[Scripted]:
    """Always this answer, or what it says to the path."""
    scripted = Scripted("")

    def reply(method: str, path: str, body: bytes, headers: Message) -> Answer:
        scripted.asked.append((method, path, body, headers))
        return answer(path) if callable(answer) else answer

    server = Server(0, reply)
    scripted.url = f"http://127.0.0.1:{server.server_port}"
    server.start()
    try:
        yield scripted
    finally:
        server.stop()


@contextmanager
def speaking(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server for one connection that does with the bare socket what it likes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            try:
                with listener.accept()[0] as connection:
                    talk(connection)
            except OSError:  # the client has had enough, or never came
                return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(10)
        assert not thread.is_alive()


@contextmanager
def silent_port() -> Iterator[str]:
    """A port whose queue of new connections is full: those who knock get no answer."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        for one in waiting:
            one.close()


@contextmanager
def tls_server(
    certificate: Path, answer: bytes = b"HTTP/1.1 204 No Content\r\n\r\n", heard: list[int] | None = None
) -> Iterator[int]:
    """Says this over TLS when it has heard a request that ends in `{}`; how much it heard it adds to the list."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def talk(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secured:
            length = 0
            while words := secured.recv(65_536):
                length += len(words)
                if words.endswith(b"{}"):
                    break
            if heard is not None:
                heard.append(length)
            secured.sendall(answer)

    with speaking(talk) as url:
        yield int(url.rpartition(":")[2])


def nobody() -> str:
    """The address of a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def json_reply(status: int, content: object, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, json.dumps(content).encode(), "application/json", headers or {})


@cache
def private_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def service_account(**special: object) -> str:
    """The JSON that Firebase gives out, with a key made for this run and addresses that nobody should follow."""
    pem = private_key().private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    ordinary = {
        "type": "service_account",
        "project_id": "ours",
        "private_key_id": "key-1",
        "private_key": pem.decode(),
        "client_email": "push@ours.example.com",
        "token_uri": "http://127.0.0.1:1/elsewhere",
    }
    return json.dumps(ordinary | special)
