"""When a delivery that failed is tried again. Pure."""

import zlib
from datetime import timedelta
from uuid import UUID

# After each try, how long until the next: ten tries in a little more than three days.
SCHEDULE = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
JITTER = 0.1  # at most so much later, so that what failed together does not come back together
LONGEST_RETRY_AFTER = timedelta(hours=24)


def delay_after(tries: int, delivery_id: UUID, *, retry_after: timedelta | None = None) -> timedelta:
    """The wait after so many tries. The endpoint's own Retry-After is the least it gets, up to a day.

    The jitter is drawn from the id, not by chance: asked twice, the answer is the same."""
    wait = SCHEDULE[min(tries, len(SCHEDULE)) - 1]
    wait += wait * JITTER * (zlib.crc32(delivery_id.bytes + bytes([tries])) / 2**32)
    return wait if retry_after is None else max(wait, min(retry_after, LONGEST_RETRY_AFTER))
