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

    __slots__ = ("_waiting", "last_sent_at", "line", "name", "noticed_at", "size", "use")

    def __init__(self, name: str | None, now: float) -> None:
        self.name = name
        self.size = 0
        self.use = Use(now)
        self.last_sent_at = 0.0
        self.line: Standing | None = None  # where it waits for its turn, if anything of it waits
        self.noticed_at = 0.0  # when it had last sent, as far as was noticed
        self._waiting: LazyHeap[float, Message] = LazyHeap(lambda _, message: message.place is Place.WAITING)

    def add(self, message: Message) -> None:
        self._waiting.push(message.number, message)
        self.size += 1
        self.last_sent_at = max(self.last_sent_at, message.sent_at)

    def oldest(self) -> Message | None:
        found = self._waiting.first()
        return found[1] if found else None

    def age(self) -> int:
        oldest = self.oldest()
        return oldest.number if oldest else 0

    def turn(self) -> tuple[int, int]:
        """Who has less in flight comes first among the busy and among the noisy."""
        return self.use.in_flight, self.age()

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
        if not is_silent and (self.line is Standing.NOISY or is_crowding or is_slow):
            return Standing.NOISY
        return Standing.BUSY if is_busy else Standing.QUIET


class FairOrder:
    """What waits in a queue. A step looks at one message, and at the busy groups: no more than nine can have a tenth."""

    def __init__(self, now: float) -> None:
        self.waiting = 0
        self.use = Use(now)
        self._groups: dict[str | None, Group] = {}
        self._quiet: LazyHeap[float, Group] = LazyHeap(lambda age, each: each.line is Standing.QUIET and each.age() == age)
        self._busy: set[Group] = set()
        self._noisy: LazyHeap[tuple[int, int], Group] = LazyHeap(
            lambda turn, each: each.line is Standing.NOISY and each.turn() == turn
        )
        self._silences: LazyHeap[float, Group] = LazyHeap(
            lambda since, each: each.line is Standing.NOISY and each.noticed_at == since
        )

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
        if group.line is not Standing.QUIET:  # there the turn does not depend on what is in flight
            self._line_up(group)

    def discard(self, message: Message) -> None:
        """It no longer waits, and is not in flight either."""
        message.place = Place.GONE
        group = self._groups[message.group]
        group.size -= 1
        self.waiting -= 1
        self._line_up(group)

    def _next(self, now: float) -> Group | None:
        self._notice_silence(now)
        for group in list(self._busy):
            self._move(group, group.standing(self.use, now))
        while quiet := self._quiet.first():
            group = quiet[1]
            standing = group.standing(self.use, now)
            if standing is Standing.QUIET:
                return group
            self._move(group, standing)
        if self._busy:
            return min(self._busy, key=Group.turn)
        noisy = self._noisy.first()
        return noisy[1] if noisy else None

    def _notice_silence(self, now: float) -> None:
        """Look again at noisy groups that had sent nothing for long when their turn to be looked at comes."""
        while (found := self._silences.first()) and found[0] + SILENCE_SECONDS <= now:
            self._silences.pop()
            group = found[1]
            standing = group.standing(self.use, now)
            group.line = None  # so that it is noticed anew if it is noisy still
            self._move(group, standing)

    def _line_up(self, group: Group) -> None:
        """Put the group where it belongs in its line after a change; one of which nothing waits is in none."""
        if group.size:
            self._move(group, group.line or Standing.QUIET)
            return
        self._busy.discard(group)
        group.line = None
        if group.use.in_flight == 0:
            del self._groups[group.name]

    def _move(self, group: Group, line: Standing) -> None:
        before, group.line = group.line, line
        if before is Standing.BUSY:
            self._busy.discard(group)
        if line is Standing.QUIET:
            self._quiet.push(group.age(), group)
        elif line is Standing.BUSY:
            self._busy.add(group)
        else:
            self._noisy.push(group.turn(), group)
            if before is not Standing.NOISY:
                group.noticed_at = group.last_sent_at
                self._silences.push(group.noticed_at, group)
