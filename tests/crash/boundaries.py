"""Every exchange with the outside world has two numbered boundaries, before and after it; at the chosen one the process dies."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import psycopg
from botocore.httpsession import URLLib3Session
from psycopg import waiting

OURS = ("tocsin.", "functions.")
PASSAGES = ("tocsin.database", "tocsin.deadlines", "tocsin.connecting")  # who came by way of them says more


class Boundaries:
    """Counts what is crossed and kills at number `kill_at`, after telling `last_words` where. With `counting`, only boundaries
    with these words in their name count. Nothing in the product knows of it."""

    def __init__(self, kill_at: int | None, counting: str, last_words: Callable[[str], None]) -> None:
        self.crossed: list[str] = []
        self._counting = counting
        self._kill_at = kill_at
        self._last_words = last_words
        self._lock = threading.Lock()

    def cross(self, name: str) -> None:
        with self._lock:  # held while dying: no other thread crosses anything after the chosen boundary
            self.crossed.append(name)
            if self._counting in name and sum(self._counting in one for one in self.crossed) == self._kill_at:
                self._last_words(name)
                os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        """Stand between this process and Postgres, SES, SNS and SQS."""
        self._wrap(psycopg.Connection, "wait", lambda *_: f"postgres in {_place()}")
        self._wrap(waiting, "wait_conn", lambda *_: "postgres connect")
        self._wrap(URLLib3Session, "send", lambda _, request: f"{_service(request.url)} in {_place()}")

    def _wrap(self, owner: Any, attribute: str, name_of: Callable[..., str]) -> None:
        original = getattr(owner, attribute)

        def exchange(*args: Any, **options: Any) -> Any:
            name = name_of(*args)
            self.cross(f"before {name}")
            answer = original(*args, **options)
            self.cross(f"after {name}")
            return answer

        setattr(owner, attribute, exchange)


def _service(url: str) -> str:
    port_of = {"AWS_ENDPOINT_URL": "sqs", "AWS_ENDPOINT_URL_SESV2": "ses/sns", "AWS_ENDPOINT_URL_SNS": "ses/sns"}
    return next((name for variable, name in port_of.items() if url.startswith(os.environ.get(variable, "-"))), url)


def _place() -> str:
    """The innermost function of the product on the stack."""
    frame = sys._getframe()
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(OURS) and module not in PASSAGES:
            return f"{module}.{frame.f_code.co_name}"
        frame = frame.f_back  # type: ignore[assignment]
    return "nowhere"
