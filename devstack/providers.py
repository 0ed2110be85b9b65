"""The stack's side of the post office: a process that comes back at the same address."""

import json
import subprocess
from dataclasses import astuple

from devstack.children import Child
from devstack.declared import EmailEvents
from devstack.reach import LOOPBACK
from devstack.state import State


class Providers:
    """SES, SNS, SendGrid, Twilio and FCM, as far as sending goes."""

    def __init__(self, state: State, *, host: str = LOOPBACK) -> None:
        self._state = state
        self._host = host
        self._events: tuple[str, ...] = ()
        self._child: Child | None = None
        self.url = ""

    def open(self, aws_url: str, events: tuple[EmailEvents, ...]) -> None:
        """Start it for the first time, with its events going to topics at this address."""
        self._events = ("--aws", aws_url, "--events", json.dumps([astuple(each) for each in events]))
        self.start()

    def start(self) -> None:
        self.stop()
        port = self.url.rpartition(":")[2] or "0"
        arguments = ("--ledger", str(self._state.ledger), "--host", self._host, "--port", port, *self._events)
        log = self._state.logs / "post_office.log"
        self._child = Child.module("devstack.post_counter", *arguments, log=log, stdout=subprocess.PIPE)
        self.url = self._child.first_line()

    def stop(self) -> None:
        if self._child:
            self._child.stop()

    @property
    def is_alive(self) -> bool:
        return self._child is not None and self._child.returncode is None
