"""The time, and waiting for it to pass: the two things about time that a test must be able to own."""

import threading
import time


class Clock:
    def now(self) -> float:
        return time.time()

    def wait(self, news: threading.Condition, seconds: float) -> None:
        """Until there is news, or the time has passed."""
        news.wait(seconds)
