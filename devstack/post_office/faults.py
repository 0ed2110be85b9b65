"""What the post office does wrong on request: a list of faults, used up in the order in which they were set."""

import threading
from dataclasses import asdict, dataclass, replace
from typing import Any

# "token" is where FCM's bearer tokens come from; "*" is every message, and no token.
CHANNELS = ("email", "sms", "push", "token", "*")
# Not accepted: the provider's own error, or none.
BEFORE = ("refuse", "throttle", "quota", "suspend", "not_found", "unavailable", "error_before", "drop")
# Accepted, and the client does not learn of it.
AFTER = ("error_after", "accept_then_drop", "accept_then_hang")
ONLY_FOR = {"disabled": "push", "opted_out": "sms"}
MODES = (*BEFORE, *AFTER, *ONLY_FOR)


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to fail, for the messages of a channel whose recipient contains `match`; `times=None` is for ever."""

    channel: str
    mode: str
    times: int | None = None
    match: str | None = None

    def __post_init__(self) -> None:
        if self.channel not in CHANNELS:
            raise ValueError(f"channel must be one of {', '.join(CHANNELS)}")
        if self.mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}")
        if ONLY_FOR.get(self.mode, self.channel) != self.channel:
            raise ValueError(f"{self.mode} happens to {ONLY_FOR[self.mode]} only")
        if self.times is not None and (not isinstance(self.times, int) or self.times < 1):
            raise ValueError("times must be a positive number, or null for ever")

    def applies_to(self, channel: str, recipients: list[str]) -> bool:
        matches = self.match is None or any(self.match in recipient for recipient in recipients)
        return matches and (self.channel == channel or (self.channel == "*" and channel != "token"))


class Faults:
    """The faults still to come; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: list[Fault] = []

    def add(self, fault: Fault) -> None:
        with self._lock:
            self._faults.append(fault)

    def clear(self) -> None:
        with self._lock:
            self._faults.clear()

    def listed(self) -> list[dict[str, Any]]:
        with self._lock:
            return [asdict(fault) for fault in self._faults]

    def take(self, channel: str, recipients: list[str]) -> str | None:
        """The mode in which this message fails, if it does; the first fault that fits is one time shorter after it."""
        with self._lock:
            for position, fault in enumerate(self._faults):
                if fault.applies_to(channel, recipients):
                    if fault.times == 1:
                        del self._faults[position]
                    elif fault.times is not None:
                        self._faults[position] = replace(fault, times=fault.times - 1)
                    return fault.mode
        return None
