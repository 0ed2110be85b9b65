"""Email by SendGrid."""

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tocsin.channels import http_errors
from tocsin.channels.http_errors import C, H, P
from tocsin.channels.outcomes import Accepted, Failure, Outcome
from tocsin.channels.ways import Credentials, Message
from tocsin.foundation.http_client import Reply

BASE_URL = "https://api.sendgrid.com"
# SendGrid has no error codes but names the field at fault. These hold nothing but our configuration.
BY_FIELD = {"from": C, "reply_to": C}
_OUT_OF_CREDITS = "Maximum credits exceeded"


@dataclass(frozen=True, slots=True)
class SendGridEmail:
    """Credentials: the API key. Configuration: `from_email`, and if wanted `from_name` and `reply_to` in place of the brand's."""

    credentials: Credentials
    config: Mapping[str, Any]
    base_url: str = BASE_URL
    lane: str = "sendgrid:email"
    timeout: float = 10.0  # seconds for the whole call
    allow_private: bool = False  # whether the address may be one of our own network
    provider: str = "sendgrid"

    def send(self, message: Message) -> Outcome:
        if not self.credentials.api_key or not self.config.get("from_email"):
            return http_errors.not_configured("SendGrid needs an API key and from_email")
        reply = http_errors.ask(
            f"{self.base_url.rstrip('/')}/v3/mail/send",
            headers={"Authorization": f"Bearer {self.credentials.api_key}", "Content-Type": "application/json"},
            body=json.dumps(self._mail(message)).encode(),
            timeout=self.timeout,
            allow_private=self.allow_private,
        )
        if isinstance(reply, Failure):
            return reply
        # 202 alone: SendGrid says 200 for what it checked and will not send.
        message_id = reply.headers.get("x-message-id") if reply.status == 202 else None
        return Accepted(message_id, response=http_errors.said(reply)) if message_id else _failure(reply, message)

    def _mail(self, message: Message) -> dict[str, Any]:
        sender = {"email": self.config["from_email"], "name": self.config.get("from_name") or message.from_name}
        bodies = (("text/plain", message.content.text), ("text/html", message.content.html))
        mail: dict[str, Any] = {
            "personalizations": [{"to": [{"email": message.email}]}],
            "from": {name: value for name, value in sender.items() if value},
            "subject": message.content.title,
            "content": [{"type": kind, "value": value} for kind, value in bodies if value],
            "custom_args": message.tags,  # they come back in every event
        }
        if message.cc:
            mail["personalizations"][0]["cc"] = [{"email": address} for address in message.cc]
        if message.attachments:
            mail["attachments"] = [
                {
                    "filename": one.name,
                    "type": one.content_type,
                    "disposition": "attachment",
                    "content": b64encode(one.data).decode(),
                }
                for one in message.attachments
            ]
        if message.headers:
            mail["headers"] = message.headers
        if reply_to := message.asked_reply_to or self.config.get("reply_to") or message.reply_to:
            mail["reply_to"] = {"email": reply_to}
        return mail


def _failure(reply: Reply, message: Message) -> Failure:
    errors = http_errors.answered(reply).get("errors")
    first = errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], dict) else {}
    field, words = str(first.get("field") or "").split(".")[0], str(first.get("message") or "")
    by_field = BY_FIELD | ({"reply_to": P} if message.asked_reply_to else {})  # then it is the message's own
    failure = http_errors.failure(reply, field, words, by_field, recipient=message.email)
    if reply.status == 401 and _OUT_OF_CREDITS in words:  # said with the status of a wrong key
        return replace(failure, kind=H, code="OutOfCredits", pause=http_errors.QUOTA_PAUSE)
    return failure
