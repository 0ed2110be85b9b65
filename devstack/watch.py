"""Brings back the servers of the stack that died, as the real services would come back."""

import time
from collections.abc import Callable
from dataclasses import dataclass

# Long enough for a developer, or a test, to see what an outage looks like.
OUTAGE_SECONDS = 5.0


@dataclass(slots=True)
class Watched:
    """A server: whether it lives, and how to start it again."""

    name: str
    is_alive: Callable[[], bool]
    start: Callable[[], None]
    down_since: float | None = None

    def revive(self, say: Callable[[str], None]) -> None:
        """Start the server again if it has been down for some seconds."""
        if self.is_alive():
            self.down_since = None
            return
        if self.down_since is None:
            self.down_since = time.monotonic()
            say(f"{self.name} has stopped; it comes back in {OUTAGE_SECONDS:.0f} s")
        if time.monotonic() - self.down_since < OUTAGE_SECONDS:
            return
        try:
            self.start()
            say(f"{self.name} is back")
        except Exception as error:
            say(f"{self.name} does not start again: {error}")
        self.down_since = None
