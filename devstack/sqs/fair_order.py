"""Fair queues: who is received next when many tenants share a queue. A tenant is a message group.

A group is *noisy*, as in AWS, while it has more than a tenth of the messages in flight and at least 30 of them, or took
more than a tenth of the consumers' recent time; it stays noisy until nothing of it waits or it has sent nothing for five
minutes. A few local workers never have 30 in flight, so here a group is also *busy* while it has more than a tenth of
what is in flight, however little that is. Quiet groups come first, the oldest message before the others; then busy
ones, then noisy ones, among them whoever has the least in flight. A message without a group is a quiet tenant of its own.
"""

import math
from enum import IntEnum

from devstack.sqs.lazy_heap import LazyHeap
from devstack.sqs.message import Message, Place

SHARE = 10  # more than one part in ten is too much
CROWD = 30
RECENT_SECONDS = 60.0
SILENCE_SECONDS = 300.0


class Standing(IntEnum):
    QUIET = 0
    BUSY = 1
    NOISY = 2


class Use:
    """How many messages are in flight, and the consumer time this took; a minute later it counts about a third."""

    __slots__ = ("_as_of", "_spent", "in_flight")

    def __init__(self, now: float) -> None:
        self.in_flight = 0
        self._spent = 0.0
        self._as_of = now

    def change(self, by: int, now: float) -> None:
        self._spent = self.spent(now)
        self._as_of = max(now, self._as_of)
        self.in_flight += by

    def spent(self, now: float) -> float:
        faded = math.exp(-max(0.0, now - self._as_of) / RECENT_SECONDS)
        return self._spent * faded + self.in_flight * RECENT_SECONDS * (1 - faded)


class Group:
    """One tenant's messages. It is forgotten when nothing of it waits or is in flight."""

    __slots__ = ("_waiting", "is_noisy", "is_set_aside", "last_sent_at", "name", "size", "use")

    def __init__(self, name: str | None, now: float) -> None:
        self.name = name
        self.size = 0
        self.use = Use(now)
        self.last_sent_at = 0.0
        self.is_noisy = False
        self.is_set_aside = False
        self._waiting: LazyHeap[Message] = LazyHeap(lambda _, message: message.place is Place.WAITING)

    def add(self, message: Message) -> None:
        self._waiting.push(message.number, message)
        self.size += 1
        self.last_sent_at = max(self.last_sent_at, message.sent_at)

    def oldest(self) -> Message | None:
        found = self._waiting.first()
        return found[1] if found else None

    def take(self) -> Message:
        message = self.oldest()
        if message is None:
            raise LookupError("nothing of this group waits")
        self._waiting.pop()
        self.size -= 1
        return message

    def standing(self, everyone: Use, now: float) -> Standing:
        if self.name is None:
            return Standing.QUIET
        own = self.use
        is_busy = own.in_flight * SHARE > everyone.in_flight
        is_crowding = is_busy and own.in_flight >= CROWD
        is_slow = own.spent(now) * SHARE > everyone.spent(now)
        is_silent = now - self.last_sent_at >= SILENCE_SECONDS
        self.is_noisy = not is_silent and (self.is_noisy or is_crowding or is_slow)
        return Standing.NOISY if self.is_noisy else Standing.BUSY if is_busy else Standing.QUIET


class FairOrder:
    """What waits in a queue. Each step looks at one message and at the few groups that have more than their share."""

    def __init__(self, now: float) -> None:
        self.waiting = 0
        self.use = Use(now)
        self._groups: dict[str | None, Group] = {}
        self._set_aside: set[Group] = set()
        self._quiet: LazyHeap[Group] = LazyHeap(_is_first_of)

    def add(self, message: Message, now: float) -> None:
        message.place = Place.WAITING
        group = self._groups.get(message.group)
        if group is None:
            group = self._groups[message.group] = Group(message.group, now)
        group.add(message)
        self.waiting += 1
        if group.oldest() is message:
            self._line_up(group)

    def take(self, now: float) -> Message | None:
        """The next message, which is in flight from now on."""
        group = self._next(now)
        if group is None:
            return None
        message = group.take()
        message.place = Place.IN_FLIGHT
        self.waiting -= 1
        for use in (group.use, self.use):
            use.change(1, now)
        self._line_up(group)
        return message

    def release(self, message: Message, at: float) -> None:
        """It is no longer in flight."""
        group = self._groups[message.group]
        for use in (group.use, self.use):
            use.change(-1, at)
        self._forget_if_idle(group)

    def discard(self, message: Message) -> None:
        """It no longer waits, and is not in flight either."""
        message.place = Place.GONE
        group = self._groups[message.group]
        group.size -= 1
        self.waiting -= 1
        self._line_up(group)
        self._forget_if_idle(group)

    def _next(self, now: float) -> Group | None:
        for group in [each for each in self._set_aside if each.standing(self.use, now) is Standing.QUIET]:
            self._set_aside.remove(group)
            group.is_set_aside = False
            self._line_up(group)
        while entry := self._quiet.first():
            group = entry[1]
            if group.standing(self.use, now) is Standing.QUIET:
                return group
            self._quiet.pop()
            group.is_set_aside = True
            self._set_aside.add(group)
        return min(self._set_aside, key=lambda each: _rank(each, self.use, now), default=None)

    def _line_up(self, group: Group) -> None:
        """Put the group where its oldest message belongs; with none it is neither lined up nor noisy."""
        if group.size == 0:
            self._set_aside.discard(group)
            group.is_set_aside = group.is_noisy = False
        elif not group.is_set_aside and (oldest := group.oldest()):
            self._quiet.push(oldest.number, group)

    def _forget_if_idle(self, group: Group) -> None:
        if group.size == 0 and group.use.in_flight == 0:
            del self._groups[group.name]


def _is_first_of(number: float, group: Group) -> bool:
    oldest = None if group.is_set_aside else group.oldest()
    return oldest is not None and oldest.number == number


def _rank(group: Group, everyone: Use, now: float) -> tuple[int, int, int]:
    oldest = group.oldest()
    return group.standing(everyone, now), group.use.in_flight, oldest.number if oldest else 0
