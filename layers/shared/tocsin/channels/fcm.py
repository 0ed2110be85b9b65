"""Mobile push by Firebase Cloud Messaging."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from tocsin.channels import fcm_access, http_errors
from tocsin.channels.fit import push_words
from tocsin.channels.http_errors import A, C, H, P, T
from tocsin.channels.outcomes import Accepted, Failure, Outcome
from tocsin.channels.ways import Credentials, Message
from tocsin.foundation.http_client import Reply

BASE_URL = "https://fcm.googleapis.com"
TOKEN_SECONDS = 4.0  # for getting a token, which leaves a message most of its time
LEAST_SECONDS = 1.0  # with less the message is not sent, for its answer would be lost

BY_CODE = {
    "INVALID_ARGUMENT": P,
    "UNREGISTERED": P,
    # One device's token is of another project. That it stops the lane would let any app user stop it for all.
    "SENDER_ID_MISMATCH": P,
    "QUOTA_EXCEEDED": H,
    "RESOURCE_EXHAUSTED": H,
    "UNAVAILABLE": T,
    "INTERNAL": A,
    "THIRD_PARTY_AUTH_ERROR": C,
    "UNAUTHENTICATED": C,
    "PERMISSION_DENIED": C,
    "NOT_FOUND": C,  # without UNREGISTERED: it is the project that does not exist
}


@dataclass(frozen=True, slots=True)
class FcmPush:
    """Credentials: a service account's JSON as the API key. Configuration: `project_id`, unless the account's own is meant."""

    credentials: Credentials
    config: Mapping[str, Any]
    base_url: str = BASE_URL
    lane: str = "fcm:push"
    timeout: float = 10.0  # seconds for the whole call
    token_url: str = fcm_access.TOKEN_URL  # a setting: an address in the tenant's JSON could point at anything
    allow_private: bool = False  # whether the address may be one of our own network
    provider: str = "fcm"

    def send(self, message: Message) -> Outcome:
        if message.device_platform != "fcm":
            return Failure(P, "UnsupportedPlatform", f"FCM does not know tokens of {message.device_platform or 'no platform'}")
        until = time.monotonic() + self.timeout
        try:
            account = fcm_access.read(self.credentials.api_key)
        except fcm_access.UnusableAccount as reason:
            return http_errors.not_configured(str(reason))
        seconds = min(TOKEN_SECONDS, self.timeout)
        bearer = fcm_access.bearer_of(account, self.token_url, timeout=seconds, allow_private=self.allow_private)
        if isinstance(bearer, Failure):
            return bearer
        left = until - time.monotonic()
        if left < min(LEAST_SECONDS, self.timeout / 2):
            return Failure(T, "SlowToken", "getting a token left no time for the message; the next try has the token")
        project = quote(str(self.config.get("project_id") or account.project_id), safe="")
        reply = http_errors.ask(
            f"{self.base_url.rstrip('/')}/v1/projects/{project}/messages:send",
            headers={"Authorization": f"Bearer {bearer}", "Content-Type": "application/json"},
            body=json.dumps({"message": _push(message)}).encode(),
            timeout=left,
            allow_private=self.allow_private,
        )
        if isinstance(reply, Failure):
            return reply
        if reply.status == 401:  # revoked before its time, perhaps: the next try asks for another
            fcm_access.forget(account, self.token_url)
        return _outcome(reply, message.device_token)


def _push(message: Message) -> dict[str, Any]:
    """The words, and the tags and the link as data for the app; all within the 4 KiB that FCM takes."""
    link = {"url": message.content.url} if message.content.url else {}
    return {"token": message.device_token, "notification": push_words(message.content), "data": message.tags | link}


def _outcome(reply: Reply, recipient: str) -> Outcome:
    answer = http_errors.answered(reply)
    if reply.status == 200 and isinstance(answer.get("name"), str):
        return Accepted(answer["name"], response=http_errors.said(reply))
    error = answer.get("error")
    error = error if isinstance(error, dict) else {}
    code = _code(error)
    failure = http_errors.failure(reply, code, str(error.get("message") or ""), BY_CODE, recipient=recipient)
    return replace(failure, device_gone=code == "UNREGISTERED")


def _code(error: dict[str, Any]) -> str:
    """FCM's own code, in the details, says more than the status that all of Google's services share."""
    details = error.get("details")
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, dict) and detail.get("errorCode"):
            return str(detail["errorCode"])
    return str(error.get("status") or "")
