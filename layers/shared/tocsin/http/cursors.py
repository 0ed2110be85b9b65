"""Opaque keyset cursors: the place after which the next page starts. Pure."""

import base64
import binascii
from datetime import datetime
from uuid import UUID

from tocsin.http.problems import Problem


def encode(at: datetime, row_id: UUID) -> str:
    return base64.urlsafe_b64encode(f"{at.isoformat()}|{row_id}".encode()).decode().rstrip("=")


def decode(cursor: str) -> tuple[datetime, UUID]:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        at, _, row_id = text.partition("|")
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None:
            raise ValueError("no time zone")
        return moment, UUID(row_id)
    except (ValueError, binascii.Error):
        raise Problem(
            400, "invalid-cursor", "The cursor is not valid", "Use `next_cursor` of the page before, unchanged."
        ) from None
