"""Access to FCM: a service account's signed claim, exchanged for a bearer token that is kept while it lasts."""

import hashlib
import json
import threading
import time
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from urllib.parse import urlencode

from tocsin.channels import http_errors
from tocsin.channels.http_errors import C, H, T
from tocsin.channels.outcomes import Failure

TOKEN_URL = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address, not a secret
SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
LIFETIME = 3_600  # seconds, the longest that Google grants
SPARE = 300  # seconds before its end in which a token is used no more
MOST_KEPT = 256

BY_CODE = {
    "invalid_grant": C,  # the account is gone or disabled, its key was deleted, or our clock is off
    "invalid_client": C,
    "invalid_scope": C,
    "unauthorized_client": C,
    "access_denied": C,
    "invalid_request": C,
    "rate_limit_exceeded": H,
    "temporarily_unavailable": T,
}

_kept: dict[bytes, tuple[str, float]] = {}
_lock = threading.Lock()


class UnusableAccount(ValueError):
    """The service account cannot be used as it is. Whoever configured it has to mend it."""


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    email: str
    project_id: str
    key_id: str
    private_key: str = field(repr=False)


def read(text: str) -> ServiceAccount:
    """The parts of a service account's JSON that matter. Its addresses do not: those are settings."""
    try:
        value = json.loads(text)
        parts = [value[name] for name in ("client_email", "project_id", "private_key_id", "private_key")]
    except (ValueError, LookupError, TypeError, RecursionError):
        parts = [""]
    if not all(isinstance(part, str) and part and part.isascii() for part in parts):
        raise UnusableAccount("FCM needs the JSON of a service account with a private key")
    return ServiceAccount(*parts)


def bearer_of(account: ServiceAccount, token_url: str, *, timeout: float, allow_private: bool) -> str | Failure:
    """The token kept from before, or a new one. Threads that find none each get one: none waits for another's lost answer."""
    with _lock:
        bearer, good_until = _kept.get(_name(account, token_url), ("", 0.0))
    # The clock on the wall: the other one may stand still while a Lambda is frozen.
    return bearer if time.time() < good_until else _ask(account, token_url, timeout, allow_private)


def forget(account: ServiceAccount, token_url: str) -> None:
    with _lock:
        _kept.pop(_name(account, token_url), None)


def _ask(account: ServiceAccount, token_url: str, timeout: float, allow_private: bool) -> str | Failure:
    now = time.time()
    try:
        claim = _signed_claim(account, token_url, int(now))
    except UnusableAccount as reason:
        return http_errors.not_configured(str(reason))
    reply = http_errors.ask(
        token_url,
        headers={"Content-Type": "application/x-www-form-urlencoded"},
        body=urlencode({"grant_type": GRANT, "assertion": claim}).encode(),
        timeout=timeout,
        allow_private=allow_private,
    )
    if isinstance(reply, Failure):
        return http_errors.of_preparation(reply)
    answer = http_errors.answered(reply)
    bearer, lasts = answer.get("access_token"), answer.get("expires_in")
    if reply.status != 200 or not isinstance(bearer, str) or not bearer:
        code, words = str(answer.get("error") or ""), str(answer.get("error_description") or "")
        return http_errors.of_preparation(http_errors.failure(reply, code, words, BY_CODE, recipient=""))
    if isinstance(lasts, int):
        _keep(_name(account, token_url), bearer, now + lasts - SPARE)
    return bearer


def _keep(name: bytes, bearer: str, good_until: float) -> None:
    with _lock:
        _kept.pop(name, None)
        while len(_kept) >= MOST_KEPT:
            del _kept[next(iter(_kept))]
        _kept[name] = (bearer, good_until)


def _name(account: ServiceAccount, token_url: str) -> bytes:
    """By the key itself: whoever does not hold it gets none of its tokens."""
    return hashlib.sha256("\0".join((token_url, account.email, account.key_id, account.private_key)).encode()).digest()


def _signed_claim(account: ServiceAccount, token_url: str, now: int) -> str:
    header = {"alg": "RS256", "typ": "JWT", "kid": account.key_id}
    claim = {"iss": account.email, "scope": SCOPE, "aud": token_url, "iat": now, "exp": now + LIFETIME}
    said = f"{_base64(json.dumps(header).encode())}.{_base64(json.dumps(claim).encode())}"
    return f"{said}.{_base64(_signature(account.private_key, said.encode()))}"


def _signature(private_key: str, said: bytes) -> bytes:
    # Here, because only dispatch brings this library, and only FCM needs it.
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import padding, rsa  # noqa: PLC0415

    try:
        key = serialization.load_pem_private_key(private_key.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise UnusableAccount("the private key of the service account cannot be read") from None
    if not isinstance(key, rsa.RSAPrivateKey):
        raise UnusableAccount("the private key of the service account is not an RSA key")
    return key.sign(said, padding.PKCS1v15(), hashes.SHA256())


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
