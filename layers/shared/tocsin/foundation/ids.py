"""Time-ordered ids (UUIDv7), made by the application so that b-trees stay hot on the right. Pure."""

import os
import time
from uuid import UUID


def uuid7() -> UUID:
    milliseconds = time.time_ns() // 1_000_000
    noise = int.from_bytes(os.urandom(10), "big")  # drawn per call: two restores of one snapshot never share ids
    high, low = noise >> 68, noise & ((1 << 62) - 1)
    return UUID(int=(milliseconds << 80) | (0x7 << 76) | (high << 64) | (0b10 << 62) | low)


def as_uuid(text: str) -> UUID | None:
    """The id in this text, or None: only the canonical spelling counts."""
    try:
        value = UUID(text)
    except ValueError:
        return None
    return value if str(value) == text.lower() else None
