"""Where messages of test keys end: accepted, and going nowhere."""

from tocsin.channels.outcomes import Accepted, Outcome
from tocsin.channels.ways import Message
from tocsin.foundation.ids import uuid7


class Sandbox:
    provider = "sandbox"
    lane = "sandbox"

    def send(self, message: Message) -> Outcome:
        return Accepted(f"sandbox-{uuid7()}", response="accepted by the sandbox, which sends nothing")
