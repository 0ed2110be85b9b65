"""One queue in memory: what is delayed, what waits, what is in flight. It takes the time as an argument and waits for nobody."""

from dataclasses import dataclass, field

from devstack.intrinsics import ACCOUNT, REGION
from devstack.sqs.errors import SqsError, invalid
from devstack.sqs.fair_order import FairOrder
from devstack.sqs.lazy_heap import LazyHeap
from devstack.sqs.message import Message, Place, Receipt
from devstack.sqs.settings import LONGEST_VISIBILITY, Settings


@dataclass(frozen=True, slots=True)
class Taken:
    """What a receive found, and what it found to have been received in vain too often."""

    messages: list[Message] = field(default_factory=list)
    dead: list[Message] = field(default_factory=list)


class Queue:
    """Each step costs the same however many messages there are, but for the logarithm of a heap."""

    def __init__(self, name: str, settings: Settings, now: float) -> None:
        self.name = name
        self.arn = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"
        self.settings = settings
        self.tags: dict[str, str] = {}
        self.created_at = self.modified_at = now
        self.purged_at: float | None = None
        self.clear(now)

    def clear(self, now: float) -> None:
        self._messages: dict[str, Message] = {}
        self._order = FairOrder(now)
        self._lapsed: dict[str, Message] = {}  # these wait too: the next receive decides what becomes of them
        self._wakes: LazyHeap[float, Message] = LazyHeap(self._will_wake)
        self._ages: LazyHeap[float, Message] = LazyHeap(lambda _, message: self._has(message))

    @property
    def waiting(self) -> int:
        return self._order.waiting + len(self._lapsed)

    @property
    def in_flight(self) -> int:
        return self._order.use.in_flight

    @property
    def delayed(self) -> int:
        return len(self._messages) - self.waiting - self.in_flight

    def attributes(self) -> dict[str, str]:
        return self.settings.declared | {
            "ApproximateNumberOfMessages": str(self.waiting),
            "ApproximateNumberOfMessagesDelayed": str(self.delayed),
            "ApproximateNumberOfMessagesNotVisible": str(self.in_flight),
            "CreatedTimestamp": str(int(self.created_at)),
            "LastModifiedTimestamp": str(int(self.modified_at)),
            "QueueArn": self.arn,
        }

    def add(self, message: Message, now: float) -> None:
        self._messages[message.id] = message
        self._ages.push(message.sent_at, message)
        if message.wakes_at > now:
            message.place = Place.DELAYED
            self._wakes.push(message.wakes_at, message)
        elif message.receives_here:  # in flight when the last server ended
            self._lapse(message)
        else:
            self._order.add(message, now)

    def catch_up(self, now: float) -> list[Message]:
        """Let happen what time alone does: delays and visibility timeouts end, and messages expire, which are returned."""
        while (first := self._wakes.first()) and first[0] <= now:
            self._wakes.pop()
            self._wake(first[1], now)
        expired = []
        while (oldest := self._ages.first()) and oldest[0] + self.settings.retention <= now:
            expired.append(oldest[1])
            self.remove(oldest[1], now)
        return expired

    def next_wake(self) -> float | None:
        first = self._wakes.first()
        return first[0] if first else None

    def take(self, limit: int, visibility: float, now: float, *, max_receives: int | None) -> Taken:
        """Up to `limit` messages for somebody; dead ones leave the queue on the way."""
        taken = Taken()
        for message in list(self._lapsed.values()):
            if _is_spent(message, max_receives):
                taken.dead.append(message)
            else:
                self._order.add(message, now)
                del self._lapsed[message.id]
        while len(taken.messages) < limit and (found := self._order.take(now)):
            (taken.dead if _is_spent(found, max_receives) else taken.messages).append(found)
        for message in taken.dead:
            self.remove(message, now)
        for message in taken.messages:
            message.receives += 1
            message.receives_here += 1
            message.first_received_at = message.first_received_at or now
            message.received_at, message.wakes_at = now, now + visibility
            self._wakes.push(message.wakes_at, message)
        return taken

    def find(self, handle: str) -> Message | None:
        """The message of a receipt handle, unless it is gone or was received again since."""
        receipt = Receipt.read(handle, self.name)
        message = self._messages.get(receipt.message_id)
        return message if message and message.receives == receipt.receive else None

    def change_visibility(self, handle: str, seconds: int, now: float) -> None:
        message = self.find(handle)
        if message is None:
            reason = "Message does not exist or is not available for visibility timeout change."
            raise invalid("ReceiptHandle", handle, reason)
        if message.place is not Place.IN_FLIGHT:
            raise SqsError("MessageNotInflight", "The specified message isn't in flight.")
        if now + seconds > message.received_at + LONGEST_VISIBILITY:
            reason = f"Total VisibilityTimeout for the message is beyond the limit [{LONGEST_VISIBILITY} seconds]"
            raise invalid("VisibilityTimeout", seconds, reason)
        message.wakes_at = now + seconds
        self._wakes.push(message.wakes_at, message)

    def remove(self, message: Message, now: float) -> None:
        del self._messages[message.id]
        if message.place is Place.IN_FLIGHT:
            self._order.release(message, now)
        elif message.place is Place.WAITING and not self._lapsed.pop(message.id, None):
            self._order.discard(message)
        message.place = Place.GONE

    def _wake(self, message: Message, now: float) -> None:
        if message.place is Place.IN_FLIGHT:
            self._order.release(message, message.wakes_at)
            self._lapse(message)
        else:
            self._order.add(message, now)

    def _lapse(self, message: Message) -> None:
        message.place = Place.WAITING
        self._lapsed[message.id] = message

    def _has(self, message: Message) -> bool:
        return self._messages.get(message.id) is message

    def _will_wake(self, at: float, message: Message) -> bool:
        return self._has(message) and message.wakes_at == at and message.place in (Place.DELAYED, Place.IN_FLIGHT)


def _is_spent(message: Message, max_receives: int | None) -> bool:
    return max_receives is not None and message.receives_here >= max_receives
