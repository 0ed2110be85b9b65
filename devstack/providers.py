"""The stack's side of the post office: a process that comes back at the same address."""

import json
import subprocess
from dataclasses import astuple

from devstack.aws import LocalAws
from devstack.children import Child
from devstack.declared import Declared
from devstack.reach import LOOPBACK
from devstack.state import State


class Providers:
    """SES, SNS, SendGrid, Twilio and FCM, as far as sending goes."""

    def __init__(self, state: State, *, host: str = LOOPBACK) -> None:
        self._state = state
        self._host = host
        self._declared: tuple[str, ...] = ()
        self._child: Child | None = None
        self.url = ""

    def open(self, aws: LocalAws, declared: Declared) -> None:
        """Start it for the first time, with its events going to topics there, and functions held to their rights."""
        events = json.dumps([astuple(each) for each in declared.email_events])
        paused = [word for each in declared.paused_sets for word in ("--paused", each)]
        self._declared = ("--aws", aws.url, "--rights", str(aws.rights), "--events", events, *paused)
        self.start()

    def start(self) -> None:
        self.stop()
        port = self.url.rpartition(":")[2] or "0"
        arguments = ("--ledger", str(self._state.ledger), "--host", self._host, "--port", port, *self._declared)
        log = self._state.logs / "post_office.log"
        self._child = Child.module("devstack.post_counter", *arguments, log=log, stdout=subprocess.PIPE)
        self.url = self._child.first_line()

    def stop(self) -> None:
        if self._child:
            self._child.stop()

    @property
    def is_alive(self) -> bool:
        return self._child is not None and self._child.returncode is None
