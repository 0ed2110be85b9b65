"""Failover: which way each message of a batch takes, how many a lane in trouble gets, and what waits for which lane. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from tocsin.channels.ways import Way
from tocsin.delivery.gate import Defer, End
from tocsin.store.rows import Delivery, Lane

LOOK_AGAIN = timedelta(seconds=2)
NO_WAY_PAUSE = timedelta(minutes=5)
LONGEST_WAIT = timedelta(hours=24)


def share_of(concurrency: int) -> int:
    """How many messages of a batch may go by a lane whose last answers timed out: most senders stay free for the others."""
    return max(1, concurrency // 4)


def lanes_to_try(chosen_from: Iterable[list[Way]], lanes: Mapping[str, Lane]) -> list[str]:
    """The lanes that recover and that some message would rather take than any way behind them."""
    wanted: set[str] = set()
    for ways in chosen_from:
        for way in ways:
            lane = lanes.get(way.channel.lane)
            if lane is None or (lane.state == "failing" and not lane.timed_out):
                break
            if lane.is_recovering:
                wanted.add(lane.lane)
    return sorted(wanted)


class Traffic:
    """Chooses message by message, and remembers how many of this batch it gave to each lane in trouble."""

    def __init__(self, lanes: Mapping[str, Lane], *, share: int) -> None:
        self._lanes = lanes
        self._share = share
        self._given: Counter[str] = Counter()

    def choose(self, one: Delivery, ways: list[Way]) -> Way | Defer | End:
        """The first way whose lane has room; else the first that only fails quickly; else a wait for the one that opens first.

        Where there is no other way, failing quickly is better than waiting: it is counted and it ends. A lane that times out
        costs others their senders, so its messages wait for whoever tries it."""
        if one.record.mode == "test":  # the sandbox knows no trouble
            return ways[0]
        if not ways:  # a tenant has switched off every provider of a channel
            return Defer("lane_stopped: no active provider", one.work.claimed_at + NO_WAY_PAUSE)
        lanes = [(way, self._lanes.get(way.channel.lane)) for way in ways]
        for way, lane in lanes:
            if lane is None or self._has_room(lane):
                self._given[way.channel.lane] += 1
                return way
        troubled = [(way, lane) for way, lane in lanes if lane is not None]
        for way, lane in troubled:
            if lane.state == "broken" and not lane.timed_out:
                return way
        return _wait(one, min((lane for _, lane in troubled), key=lambda lane: _opens_at(lane, one.work.claimed_at)))

    def _has_room(self, lane: Lane) -> bool:
        if lane.is_closed:
            return False
        if lane.is_recovering:
            return lane.is_ours and self._given[lane.lane] < lane.probe_size
        return not lane.timed_out or self._given[lane.lane] < self._share


def _wait(one: Delivery, lane: Lane) -> Defer | End:
    """A lane that only fails is waited for a day at most: somebody must hear of it. A stopped one waits for its operator."""
    if lane.state == "broken" and one.work.claimed_at - one.work.created_at >= LONGEST_WAIT:
        return End("dead_letter", "exhausted", f"nothing went through {lane.lane} for a day: {lane.reason}")
    waits_for = None if lane.state == "failing" else lane.lane
    return Defer(f"lane_{lane.state}: {lane.reason}", _opens_at(lane, one.work.claimed_at), waits_for)


def _opens_at(lane: Lane, now: datetime) -> datetime:
    if lane.is_closed:
        return lane.resume_at
    return max(now + LOOK_AGAIN, lane.probe_until or now)
