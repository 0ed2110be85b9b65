"""What one round of work may spend on words, so that a tenant's slow templates delay its own messages and not its neighbours'."""

import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

from tocsin.rendering import Content

MAX_SECONDS = 2.0  # of the processor, for one tenant
MAX_HELD = 64 * 1024 * 1024  # bytes of all words that wait to be sent
WAIT = timedelta(seconds=2)


class Share:
    """Of one round: made when it begins. What finds no room waits, at no cost, and is rendered in another round."""

    def __init__(self) -> None:
        self._seconds: defaultdict[UUID, float] = defaultdict(float)
        self._held = 0

    def reason_to_wait(self, tenant_id: UUID) -> str | None:
        if self._held >= MAX_HELD:
            return "round_is_full"
        return "templates_are_slow" if self._seconds[tenant_id] >= MAX_SECONDS else None

    @contextmanager
    def of(self, tenant_id: UUID) -> Iterator[None]:
        began = time.thread_time()
        try:
            yield
        finally:
            self._seconds[tenant_id] += time.thread_time() - began

    def hold(self, content: Content) -> Content:
        self._held += sys.getsizeof(content.text) + sys.getsizeof(content.html)
        return content
