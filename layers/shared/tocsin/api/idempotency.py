"""The Idempotency-Key header: of a request that must not be done twice."""

import re
from typing import Any

from tocsin.http.problems import Problem
from tocsin.intake.intents import KEY

_QUOTED = re.compile(r'"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"')
KEY_HEADER: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": True,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}


def idempotency_key(header: str | None) -> str:
    """The key from its header: bare, or as an RFC 8941 string."""
    if header is None or not header.strip():
        raise Problem(
            400,
            "idempotency-key-required",
            "The Idempotency-Key header is missing",
            "Send a header `Idempotency-Key` that is unique to this intent, so that a retry cannot send it twice.",
            [{"pointer": "Idempotency-Key", "message": "is required"}],
        )
    text = header.strip()
    if quoted := _QUOTED.fullmatch(text):
        key = re.sub(r"\\(.)", r"\1", quoted[1])
    else:
        key = "" if "," in text or text.startswith('"') else text  # two headers arrive joined by a comma
    if not KEY.fullmatch(key):
        raise Problem(
            400,
            "idempotency-key-invalid",
            "The Idempotency-Key header is not valid",
            "It must be one value of 1 to 255 printable ASCII characters (with a comma in it: in double quotes).",
            [{"pointer": "Idempotency-Key", "message": "must be one value of 1 to 255 printable ASCII characters"}],
        )
    return key
