"""The local stack's SQS and the real SDK in one process, without a socket between them, and with a clock of the test's own."""

import io
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config

from devstack.intrinsics import REGION
from devstack.sqs.clock import Clock
from devstack.sqs.queue_file import QueueFile
from devstack.sqs.queues import Queues
from devstack.sqs.wire import Environ, SqsWire

HOST = "sqs.test"


@dataclass
class SetClock(Clock):
    """Stands still until told. Whoever waits is told that the time has passed, and `meanwhile` may happen."""

    at: float = 1_800_000_000.0
    waits: list[float] = field(default_factory=list)
    meanwhile: Callable[[], object] = lambda: None

    def now(self) -> float:
        return self.at

    def wait(self, news: threading.Condition, seconds: float) -> None:
        self.waits.append(seconds)
        self.at += seconds
        self.meanwhile()

    def advance(self, seconds: float) -> None:
        self.at += seconds


class LocalSqs:
    """`sqs` is a client of the SDK; `queue()` makes a queue and returns its URL."""

    def __init__(self, folder: Path, clock: Clock | None = None) -> None:
        self._path = folder / "sqs.sqlite3"
        self._file: QueueFile | None = None
        self.set_clock = SetClock()
        self.clock: Clock = clock or self.set_clock
        self.connection: Any = None  # what the server would know of the caller's connection
        self.sqs = _session().client("sqs", endpoint_url=f"http://{HOST}", config=Config(retries={"total_max_attempts": 1}))
        self.sqs.meta.events.register("before-send.sqs", self._send)
        self.start()

    def __enter__(self) -> "LocalSqs":
        return self

    def __exit__(self, *_: object) -> None:
        self.sqs.close()
        self.stop()

    def stop(self) -> None:
        if self._file:
            self._file.close()

    def start(self) -> None:
        """Start the server again: nothing of the old one is left but the file."""
        self.stop()
        self._file = QueueFile(self._path)
        self.queues = Queues(self._file, self.clock)
        self._wire = SqsWire(self.queues, _nobody)

    def queue(self, name: str = "work", **attributes: object) -> str:
        given = {key: str(value) for key, value in attributes.items()}
        url: str = self.sqs.create_queue(QueueName=name, Attributes=given)["QueueUrl"]
        return url

    def send(self, url: str, *bodies: str, **more: Any) -> None:
        for start in range(0, len(bodies), 10):
            entries = [{"Id": str(n), "MessageBody": body} | more for n, body in enumerate(bodies[start : start + 10])]
            assert not self.sqs.send_message_batch(QueueUrl=url, Entries=entries).get("Failed")

    def receive(self, url: str, limit: int = 10, **more: Any) -> list[dict[str, Any]]:
        asked = {"MessageSystemAttributeNames": ["All"], "MessageAttributeNames": ["All"]} | more
        found: list[dict[str, Any]] = self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=limit, **asked).get(
            "Messages", []
        )
        return found

    def bodies(self, url: str, limit: int = 10, **more: Any) -> list[str]:
        return [message["Body"] for message in self.receive(url, limit, **more)]

    def counts(self, url: str) -> tuple[int, int, int]:
        """How many wait, are in flight, are delayed."""
        found = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        kinds = ("", "NotVisible", "Delayed")
        waiting, in_flight, delayed = (int(found[f"ApproximateNumberOfMessages{kind}"]) for kind in kinds)
        return waiting, in_flight, delayed

    def call(self, environ: Environ, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """A request as the server hands it to us."""
        told: list[Any] = []
        usual = {"wsgi.url_scheme": "http", "HTTP_HOST": HOST, "CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body)}
        content = b"".join(self._wire(usual | environ, lambda *answer: told.extend(answer)))
        return int(told[0].split()[0]), dict(told[1]), content

    def _send(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        body = request.body if isinstance(request.body, bytes) else str(request.body).encode()
        environ: Environ = {"HTTP_X_AMZ_TARGET": _text(request.headers["X-Amz-Target"]), "werkzeug.socket": self.connection}
        status, headers, content = self.call(environ, body)
        return AWSResponse(request.url, status, headers, _Raw(content))


class _Raw(io.BytesIO):
    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self.getvalue()


def _text(header: Any) -> str:
    return header.decode() if isinstance(header, bytes) else str(header)


def _nobody(environ: Environ, start_response: Any) -> list[bytes]:
    start_response("404 -", [])
    return [b"handed on"]


@cache
def _session() -> Any:
    return boto3.Session("test", "test", region_name=REGION)
