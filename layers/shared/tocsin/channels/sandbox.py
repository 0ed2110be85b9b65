"""Where messages of test keys end: accepted, and going nowhere."""

from tocsin.channels import Message
from tocsin.ids import uuid7
from tocsin.outcomes import Accepted, Outcome


class Sandbox:
    provider = "sandbox"
    lane = "sandbox"

    def send(self, message: Message) -> Outcome:
        return Accepted(f"sandbox-{uuid7()}")
