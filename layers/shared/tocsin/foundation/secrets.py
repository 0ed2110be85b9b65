"""Secrets of the installation: one way to read one, and one word for when it cannot be read."""

import time
from collections.abc import Iterator

from tocsin.foundation import aws

KEPT_SECONDS = 300.0  # how long a rotated secret may go unnoticed in an execution environment that knew the old one
AGAIN_SECONDS = 30.0  # until the next look, when one that is known cannot be read anew, or signed nothing of what is shown

_CURRENT, _PREVIOUS = "AWSCURRENT", "AWSPREVIOUS"  # what Secrets Manager calls the value of now, and the one before it

_kept: dict[str, tuple[float, str]] = {}
_others_kept: dict[str, tuple[float, tuple[bytes, ...] | str]] = {}  # or the one word for why there are none


class SecretUnavailable(Exception):
    """A secret cannot be read just now; says why in one word. HTTP doors answer 503, and mail that needs it waits."""


def read(arn: str) -> str:
    """The text of a secret, as it is now."""
    return _read(arn, _CURRENT)


def previous(arn: str) -> str | None:
    """The text that it had before it was given another value; None where it never was, or where that one was ended."""
    try:
        return _read(arn, _PREVIOUS)
    except SecretUnavailable as error:
        if str(error) == "ResourceNotFoundException":
            return None
        raise


def _read(arn: str, stage: str) -> str:
    try:
        text: str = aws.client("secretsmanager").get_secret_value(SecretId=arn, VersionStage=stage)["SecretString"]
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


def accepted(arn: str) -> Iterator[bytes]:
    """What may have signed what is shown to us: the secret as it is known; and when it was not that one, as it is by now (others
    may have heard of a new value before us) and as it was before. So two values are in force while it rotates."""
    current = known(arn)
    yield current
    yield from (one for one in _others(arn) if one != current)


def _others(arn: str) -> tuple[bytes, ...]:
    """A failure is kept as well: else everyone who shows a forgery meanwhile would wait for another try."""
    expires_at, others = _others_kept.get(arn, (0.0, ()))
    if time.monotonic() >= expires_at:
        try:
            before, now = previous(arn), read(arn)
            others = tuple(text.encode() for text in (now, before) if text)
        except SecretUnavailable as error:
            others = str(error)
        _others_kept[arn] = (time.monotonic() + AGAIN_SECONDS, others)
    if isinstance(others, str):
        raise SecretUnavailable(others)
    return others


def forget() -> None:
    """Read every secret anew (tests)."""
    _kept.clear()
    _others_kept.clear()
