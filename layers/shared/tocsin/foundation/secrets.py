"""Secrets of the installation: one way to read one, and one word for when it cannot be read."""

import time

from tocsin.foundation import aws

KEPT_SECONDS = 300.0  # how long a rotated secret may go unnoticed in an execution environment that knew the old one
AGAIN_SECONDS = 30.0  # until the next try, when one that is known cannot be read anew

_kept: dict[str, tuple[float, str]] = {}


class SecretUnavailable(Exception):
    """A secret cannot be read just now; says why in one word. HTTP doors answer 503, and mail that needs it waits."""


def read(arn: str) -> str:
    """The text of a secret, as it is now."""
    try:
        text: str = aws.client("secretsmanager").get_secret_value(SecretId=arn)["SecretString"]
    except Exception as error:  # its class is enough: whatever it is, there is no secret
        raise SecretUnavailable(type(error).__name__) from error
    return text


def known(arn: str) -> bytes:
    """A secret that signs and checks: kept for some minutes, and for longer while it cannot be read again."""
    expires_at, text = _kept.get(arn, (0.0, ""))
    if time.monotonic() < expires_at:
        return text.encode()
    try:
        text, lasts = read(arn), KEPT_SECONDS
    except SecretUnavailable:
        if arn not in _kept:
            raise
        lasts = AGAIN_SECONDS
    _kept[arn] = (time.monotonic() + lasts, text)
    return text.encode()


def forget() -> None:
    """Read every secret anew (tests)."""
    _kept.clear()
