"""What the post office tells of the emails it accepted, brought to the feedback door as SNS and SQS would bring it."""

import json
import time
import urllib.request
from collections.abc import Callable
from typing import Any

from tests.crash.child import Context
from tests.ses_events import through_sns

PATIENCE_SECONDS = 10

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]


def fetched(office_url: str) -> list[dict[str, Any]]:
    """Every event of what is in the ledger now. They are told from a thread: wait until each email has had its last one."""
    emails = {row["message_id"] for row in _get(office_url, "_ledger") if row["channel"] == "email"}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        told = [one for one in _get(office_url, "_events") if one["mail"]["messageId"] in emails]
        if {one["mail"]["messageId"] for one in told if one["eventType"] != "Send"} == emails:
            return told
        assert time.monotonic() < deadline, "the post office has not told of everything it accepted"
        time.sleep(0.005)


def batch(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The event of the feedback function, with everything in it twice: SNS and SQS promise no less than once."""
    bodies = [through_sns(one) for one in events]
    return {"Records": [{"messageId": f"news-{n}", "body": body} for n, body in enumerate([*bodies, *bodies[::-1]])]}


class News:
    """The way from one post office to the feedback door."""

    def __init__(self, office_url: str, handler: Handler) -> None:
        self._office_url, self._handler = office_url, handler
        self._told = 0

    def tell(self) -> None:
        events = fetched(self._office_url)[self._told :]
        self._told += len(events)
        if events:
            answer = self._handler(batch(events), Context())
            assert answer == {"batchItemFailures": []}, answer


def _get(office_url: str, what: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{office_url}/{what}", timeout=5) as answer:
        data: list[dict[str, Any]] = json.load(answer)["data"]
    return data
