"""A signed call to an endpoint: whatever happens, there is an answer to record."""

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger

from tocsin.foundation import http_client
from tocsin.webhooks import sign, signing_secrets
from tocsin.webhooks.answers import EndpointAnswer, NotAsked, answer_of

LONGEST = 15.0  # seconds in all, however patient an endpoint's owner is
LEAST = 5.0  # seconds that must be left once the secrets are open

log = Logger(child=True)


@dataclass(frozen=True, slots=True)
class SignedCall:
    """What is asked of an endpoint. The secrets are ciphertexts, the current one first."""

    tenant_id: UUID
    url: str
    message_id: UUID
    body: bytes
    secrets: tuple[bytes, ...]
    purpose: str
    timeout: float
    trace_id: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)  # beside those that sign and describe the message


def ask(call: SignedCall, *, allow_private: bool) -> EndpointAnswer | NotAsked:
    """Open the secrets, sign, post, within one limit for all of it. Runs in a thread and never raises for what others do."""
    begun = time.monotonic()
    try:
        opened = [
            signing_secrets.unsealed(secret, tenant_id=call.tenant_id, purpose=call.purpose) for secret in call.secrets if secret
        ]
    except signing_secrets.CannotUnseal as error:
        log.error("a secret cannot be opened; the call waits", extra={"purpose": call.purpose, "error": str(error)})
        return NotAsked(str(error))
    headers = headers_of(call, sign.signed_headers(sign.message_id_of(call.message_id), int(time.time()), call.body, opened))
    started = time.monotonic()
    left = LONGEST - (started - begun)
    if left < min(call.timeout, LEAST):
        return NotAsked("no time was left")
    try:
        reply = http_client.post(
            call.url, headers=headers, body=call.body, timeout=min(call.timeout, left), allow_private=allow_private
        )
    except http_client.WebFailure as failure:
        if failure.code == "resolver_busy":  # our own trouble, not the endpoint's
            return NotAsked(failure.code)
        return EndpointAnswer(None, "", failure.code, _milliseconds(started))
    return answer_of(reply.status, reply.headers, reply.body, duration_ms=_milliseconds(started), now=datetime.now(UTC))


def headers_of(call: SignedCall, signed: Mapping[str, str]) -> dict[str, str]:
    described = {"Content-Type": "application/json", "User-Agent": "Tocsin-Webhooks"}
    if call.trace_id:
        described["traceparent"] = f"00-{call.trace_id}-{secrets.token_hex(8)}-01"
    return {**described, **call.headers, **signed}


def written(payload: Mapping[str, Any]) -> bytes:
    """Compact JSON, the same bytes for every try; what it is comes first."""
    ordered = {name: payload[name] for name in ("type", "timestamp", "data") if name in payload} | dict(payload)
    return json.dumps(ordered, ensure_ascii=False, separators=(",", ":")).encode()


def _milliseconds(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
