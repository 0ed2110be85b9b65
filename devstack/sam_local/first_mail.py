"""The first message through everything: an intent by HTTP that is accepted, planned and sent in containers, up to its mail."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from devstack.post_office.ledger import Ledger
from devstack.state import RefusalError

ANSWER_SECONDS = 120.0  # the first container of all, whose image is built before
MAIL_SECONDS = 120.0
RETRIES, RETRY_PAUSE = 3, 1.0
TO = "you@example.com"


def send(base_url: str, api_key: str, ledger: Ledger, *, is_over: Callable[[], bool]) -> dict[str, Any] | None:
    """The mail as it arrived, or None if somebody asked for the end meanwhile."""
    before = len(ledger.rows())
    notification_id = _accepted(base_url, api_key)
    deadline = time.monotonic() + MAIL_SECONDS
    while len(rows := ledger.rows()) == before:
        if is_over():
            return None
        if time.monotonic() > deadline:
            raise RefusalError(f"Intent {notification_id} was accepted, but no mail came of it in {MAIL_SECONDS:.0f} s.")
        time.sleep(0.1)
    return rows[-1]


def _accepted(base_url: str, api_key: str) -> str:
    intent = {
        "type": "hello",
        "audience": {"kind": "address", "email": TO},
        "channels": ["email"],
        "payload": {"title": "Hello", "message": "By way of sam local."},
    }
    headers = {
        "Authorization": f"Bearer {api_key}",
        "Content-Type": "application/json",
        "Idempotency-Key": f"sam-local-{uuid4().hex}",
    }
    request = urllib.request.Request(f"{base_url}/v1/intents", json.dumps(intent).encode(), headers)
    status, said = _asked(request)
    # The emulator counts a first container's start as time of its first request, which may then be too short: asked again,
    # under the same key, as any producer would.
    for _ in range(RETRIES):
        if status < 500:
            break
        time.sleep(RETRY_PAUSE)
        status, said = _asked(request)
    # A function that cannot even be imported is a 200 here, with the error as its body.
    if status != 202:
        raise RefusalError(f"sam local start-api answered an intent with {status}: {said.decode(errors='replace')}")
    return str(json.loads(said)["notification_id"])


def _asked(request: urllib.request.Request) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
