"""The over-sending guard: how many messages of one type one address may get in a window, whoever they are for. Pure."""

from dataclasses import dataclass
from datetime import timedelta

from tocsin.store.rows import Delivery

CHANNELS = ("email", "sms")  # those with addresses that anybody can type in
_PROVING = ("auth.", "auth:")  # how types are named whose messages a stranger can ask for, such as password resets


@dataclass(frozen=True, slots=True)
class Guard:
    limit: int
    window: timedelta

    @property
    def reason(self) -> str:
        return f"over_sending: {self.limit} in {self.window.total_seconds():.0f} s"


def guard_of(one: Delivery, usual: Guard) -> Guard | None:
    """The guard of the delivery's type, or the usual one where the type is of those that need it and says nothing.

    The sandbox reaches nobody, so it is not guarded and uses up nothing."""
    record = one.record
    if one.route.channel not in CHANNELS or record.mode != "live":
        return None
    if record.over_sending_limit is not None and record.over_sending_window_seconds is not None:
        return Guard(record.over_sending_limit, timedelta(seconds=record.over_sending_window_seconds))
    return usual if record.notification_type.startswith(_PROVING) else None
