"""SMS by Twilio."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlencode

from tocsin.channels import http_errors
from tocsin.channels.fit import MAX_SMS, sms_text
from tocsin.channels.http_errors import C, H, P
from tocsin.channels.outcomes import Accepted, Failure, Outcome
from tocsin.channels.ways import Credentials, Message
from tocsin.foundation.http_client import Reply

BASE_URL = "https://api.twilio.com"

BY_CODE = {
    "20003": C,  # authentication failed
    "20005": C,  # the account is not active
    "20404": C,  # no such account
    "20429": H,
    "21211": P,  # not a phone number
    "21212": C,  # `From` is not one: it is the same for every message
    "21408": P,  # the account may not send to this country
    "21603": C,  # neither `From` nor a messaging service
    "21606": P,  # `From` cannot send to this destination
    "21610": P,  # the recipient has opted out
    "21611": H,  # too many messages are waiting for this `From`
    "21612": P,  # `From` cannot reach this number
    "21614": P,  # not a mobile number
    "21617": P,  # too long
    "21660": C,  # `From` belongs to another account
    "21701": C,  # no such messaging service
    "21703": C,  # the messaging service has no sender
    "63038": H,  # the account's messages of the day are used up
}
_OPTED_OUT = "21610"
_OF_THE_DAY = "63038"


@dataclass(frozen=True, slots=True)
class TwilioSms:
    """Credentials: account SID and auth token, or an API key and its secret; with the latter `account_sid` is configured.

    Configuration: `from` (a number or a sender id) or `messaging_service_sid`.
    """

    credentials: Credentials
    config: Mapping[str, Any]
    base_url: str = BASE_URL
    lane: str = "twilio:sms"
    timeout: float = 10.0  # seconds for the whole call
    allow_private: bool = False  # whether the address may be one of our own network
    provider: str = "twilio"

    def send(self, message: Message) -> Outcome:
        user, secret = self.credentials.api_key, self.credentials.api_secret
        account, sender = str(self.config.get("account_sid") or user), self._sender()
        if not user or not secret or not sender:
            return http_errors.not_configured("Twilio needs a SID, its secret, and from or messaging_service_sid")
        words = {"To": message.phone, "Body": sms_text(message.content, MAX_SMS), **sender}
        reply = http_errors.ask(
            f"{self.base_url.rstrip('/')}/2010-04-01/Accounts/{quote(account, safe='')}/Messages.json",
            headers={
                "Authorization": f"Basic {b64encode(f'{user}:{secret}'.encode()).decode()}",
                "Content-Type": "application/x-www-form-urlencoded",
            },
            body=urlencode(words, errors="replace").encode(),
            timeout=self.timeout,
            allow_private=self.allow_private,
        )
        return reply if isinstance(reply, Failure) else _outcome(reply, message.phone)

    def _sender(self) -> dict[str, str]:
        if service := self.config.get("messaging_service_sid"):
            return {"MessagingServiceSid": str(service)}
        return {"From": str(self.config["from"])} if self.config.get("from") else {}


def _outcome(reply: Reply, recipient: str) -> Outcome:
    answer = http_errors.answered(reply)
    if 200 <= reply.status < 300 and isinstance(answer.get("sid"), str):
        return Accepted(answer["sid"], response=http_errors.said(reply, str(answer.get("status") or "")))
    code = str(answer.get("code") or "")
    failure = http_errors.failure(reply, code, str(answer.get("message") or ""), BY_CODE, recipient=recipient)
    pause = http_errors.QUOTA_PAUSE if code == _OF_THE_DAY else None
    return replace(failure, pause=pause, opted_out=code == _OPTED_OUT)
