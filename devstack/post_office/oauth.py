"""Where a service account gets its bearer token: OAuth 2 with a signed claim, as Google has it."""

import json
import time
from base64 import urlsafe_b64decode
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

from devstack.post_office.letters import RefusedError, Reply

GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
LIFETIME = 3600
SKEW = 300
ERRORS = {
    "refuse": (400, "invalid_grant", "Invalid grant: account not found"),
    "throttle": (429, "rate_limit_exceeded", "Rate exceeded."),
    "quota": (429, "rate_limit_exceeded", "Rate exceeded."),
    "suspend": (401, "invalid_client", "The account is disabled."),
    "not_found": (404, "", ""),
    "unavailable": (503, "temporarily_unavailable", "Try again later."),
    "error_before": (500, "internal_failure", ""),
    "error_after": (500, "internal_failure", ""),
}


def failure(mode: str) -> Reply:
    return _error(*ERRORS[mode])


def granted() -> Reply:
    """A token that says itself how long it is good, so that it outlives a restart of the post office."""
    token = f"ya29.{int(time.time()) + LIFETIME}.{uuid4().hex}"
    answer = {"access_token": token, "expires_in": LIFETIME, "token_type": "Bearer"}
    return Reply(200, json.dumps(answer).encode(), "application/json")


def is_good(authorization: str) -> bool:
    kind, _, token = authorization.partition(" ")
    parts = token.split(".")
    return kind == "Bearer" and len(parts) == 3 and parts[0] == "ya29" and parts[1].isdecimal() and time.time() < int(parts[1])


def read(body: bytes) -> str:
    """The account that asks. Its key is not known here, so the signature is only looked at, not checked."""
    form = dict(parse_qsl(body.decode()))
    if form.get("grant_type") != GRANT:
        raise RefusedError(_error(400, "unsupported_grant_type", "Invalid grant_type"))
    try:
        header, claim, signature = (urlsafe_b64decode(part + "==") for part in form.get("assertion", "").split("."))
        return _account(json.loads(header), json.loads(claim), signature)
    except (ValueError, LookupError, TypeError):
        raise _bad("Invalid JWT") from None


def _account(header: dict[str, Any], claim: dict[str, Any], signature: bytes) -> str:
    now = time.time()
    if header["alg"] != "RS256" or len(signature) < 128:
        raise _bad("Invalid JWT Signature.")
    if claim["scope"] != SCOPE or not claim["aud"].endswith("/token"):
        raise _bad("Invalid JWT: scope or audience")
    if not now - SKEW <= claim["iat"] <= now + SKEW or not 0 < claim["exp"] - claim["iat"] <= LIFETIME:
        raise _bad("Invalid JWT: Token must be a short-lived token and in a reasonable timeframe.")
    return str(claim["iss"])


def _bad(message: str) -> RefusedError:
    return RefusedError(_error(400, "invalid_grant", message))


def _error(status: int, code: str, message: str) -> Reply:
    headers = {"Retry-After": "2"} if status == 429 else {}
    return Reply(status, json.dumps({"error": code, "error_description": message}).encode(), "application/json", headers)
