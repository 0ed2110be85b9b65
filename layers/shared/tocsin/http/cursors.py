"""Opaque keyset cursors: the place after which the next page starts. Pure."""

import base64
import binascii
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from tocsin.http.problems import Problem


def encode(at: datetime, row_id: UUID | int | str) -> str:
    return base64.urlsafe_b64encode(f"{at.isoformat()}|{row_id}".encode()).decode().rstrip("=")


def decode(cursor: str, read: Callable[[str], Any] = UUID) -> tuple[datetime, Any]:
    """The place, whose id `read` reads; it raises ValueError for what is none."""
    try:
        at, _, row_id = _read(cursor).partition("|")
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None:
            raise ValueError("no time zone")
        return moment, read(row_id)
    except (ValueError, binascii.Error):
        raise invalid() from None


def encode_name(name: str) -> str:
    """Where a list is in the order of names, its last one."""
    return base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")


def decode_name(cursor: str, known: re.Pattern[str]) -> str:
    """The name, which has this shape or was not made here."""
    try:
        name = _read(cursor)
    except (ValueError, binascii.Error):
        raise invalid() from None
    if not known.fullmatch(name):
        raise invalid()
    return name


def invalid() -> Problem:
    errors = [{"pointer": "?cursor", "message": "is not one of this list"}]
    return Problem(400, "invalid-cursor", "The cursor is not valid", "Use `next_cursor` of the page before, unchanged.", errors)


def _read(cursor: str) -> str:
    return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
