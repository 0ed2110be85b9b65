"""SendGrid, Twilio and FCM as bare HTTP, pointed at a post office."""

import http.client
import json
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from devstack.post_office import PostOffice, oauth

MAIL: dict[str, Any] = {
    "personalizations": [{"to": [{"email": "ada@example.com"}]}],
    "from": {"email": "tocsin@example.com", "name": "Tocsin"},
    "subject": "Grüße",
    "content": [{"type": "text/plain", "value": "text"}, {"type": "text/html", "value": "<p>html"}],
    "headers": {"List-Unsubscribe": "<https://example.com/u>"},
    "custom_args": {"tocsin_attempt": "1-1"},
}
SMS = {"To": "+4915112345678", "From": "Tocsin", "Body": "Größe & <Maß>"}
PUSH: dict[str, Any] = {"token": "device-1", "notification": {"title": "T", "body": "B"}, "data": {"tocsin_attempt": "1-1"}}
TEXTS = "/2010-04-01/Accounts/AC1/Messages.json"
PUSHES = "/v1/projects/ours/messages:send"
LOGIN = f"Basic {b64encode(b'AC1:hush').decode()}"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: Any


def post(office: PostOffice, path: str, body: str, authorization: str = "") -> Answer:
    connection = http.client.HTTPConnection(office.url.removeprefix("http://"), timeout=5)
    try:
        connection.request("POST", path, body.encode(), {"Authorization": authorization} if authorization else {})
        answer = connection.getresponse()
        content = answer.read()
        return Answer(answer.status, dict(answer.getheaders()), json.loads(content) if content else None)
    finally:
        connection.close()


def mail(office: PostOffice, authorization: str = "Bearer SG.key", **changes: Any) -> Answer:
    return post(office, "/v3/mail/send", json.dumps(MAIL | changes), authorization)


def text(office: PostOffice, authorization: str = LOGIN, path: str = TEXTS, **changes: str) -> Answer:
    return post(office, path, urlencode(SMS | changes), authorization)


def push(office: PostOffice, authorization: str = "", **changes: Any) -> Answer:
    return post(office, PUSHES, json.dumps({"message": PUSH | changes}), authorization or f"Bearer {bearer(office)}")


def bearer(office: PostOffice) -> str:
    return str(login(office).body["access_token"])


def login(
    office: PostOffice, *, grant: str = oauth.GRANT, alg: str = "RS256", signature: bytes = b"x" * 256, **changes: Any
) -> Answer:
    now = int(time.time())
    claim = {"iss": "a@b", "scope": oauth.SCOPE, "aud": f"{office.url}/token", "iat": now, "exp": now + 3600} | changes
    parts = [json.dumps({"alg": alg}).encode(), json.dumps(claim).encode(), signature]
    assertion = ".".join(urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)
    return post(office, "/token", urlencode({"grant_type": grant, "assertion": assertion}))


SENDS: dict[str, Callable[[PostOffice], Answer]] = {"sendgrid": mail, "twilio": text, "fcm": push}
