"""The form of the preferences page: what it is filled with, how what comes back is read, and what was changed. Pure.

Each part says what it was when it was shown. So only what the reader changed is written, whatever others changed meanwhile."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import parse_qs

from tocsin.foundation.channel_names import CHANNELS

DISTURBING = CHANNELS[:3]  # the inbox disturbs nobody: it has no cap and no quiet hours
HOURS = ("start", "end", "zone")
MOST_BYTES = 1024 * 1024
_MOST_FIELDS = 5_000
_LONGEST = 60  # characters of a text that is shown again


class NotTheForm(ValueError):
    """What was sent is not this form. Whoever sent it opens the page again."""


@dataclass(frozen=True, slots=True)
class ChannelFacts:
    """A channel, and why it does not reach them; None where it does."""

    channel: str
    obstacle: str | None
    is_on: bool
    cap: int | None


@dataclass(frozen=True, slots=True)
class KindFacts:
    name: str
    title: str
    description: str
    is_locked: bool
    ways: dict[str, bool]


@dataclass(frozen=True, slots=True)
class Choices:
    """All that a person can choose, and what counts now. `is_mixed`: their channels have different quiet hours."""

    channels: list[ChannelFacts]
    kinds: list[KindFacts]
    hours: dict[str, str]
    is_mixed: bool

    @property
    def reachable(self) -> frozenset[str]:
        return frozenset(one.channel for one in self.channels if one.obstacle is None)


class Ticks(NamedTuple):
    """One row of boxes: those that were there, and of these the ticked ones, before and now."""

    shown: frozenset[str]
    was: frozenset[str]
    now: frozenset[str]

    @property
    def changed(self) -> dict[str, bool]:
        return {one: one in self.now for one in self.shown if (one in self.now) != (one in self.was)}


class Typed(NamedTuple):
    was: str
    now: str

    @property
    def is_changed(self) -> bool:
        return self.was != self.now


@dataclass(frozen=True, slots=True)
class Filled:
    """The form with its answers: boxes of the channels, boxes by kind, a cap by channel, and the quiet hours."""

    channels: Ticks
    kinds: dict[str, Ticks] = field(default_factory=dict)
    caps: dict[str, Typed] = field(default_factory=dict)
    hours: dict[str, Typed] = field(default_factory=dict)


def untouched(choices: Choices) -> Filled:
    """As it is first shown."""
    reachable = choices.reachable
    return Filled(
        _unchanged(reachable, (one.channel for one in choices.channels if one.is_on)),
        {
            one.name: _unchanged(reachable.intersection(one.ways), (way for way, is_on in one.ways.items() if is_on))
            for one in choices.kinds
            if not one.is_locked
        },
        {one.channel: _same("" if one.cap is None else str(one.cap)) for one in choices.channels},
        {name: _same(choices.hours[name]) for name in HOURS},
    )


def read(body: bytes) -> Filled:
    """What a browser sent; fields that are not of this form are passed over."""
    if len(body) > MOST_BYTES:
        raise NotTheForm
    try:
        sent = parse_qs(body.decode(), keep_blank_values=True, strict_parsing=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise NotTheForm from None
    if "channels.shown" not in sent or any("\0" in one for values in sent.values() for one in values):
        raise NotTheForm
    places = [name.removesuffix(".name") for name in sent if name.endswith(".name")]
    return Filled(
        _ticks(sent, "channels"),
        {sent[f"{place}.name"][0]: _ticks(sent, place) for place in places},
        {channel: _typed(sent, f"cap.{channel}") for channel in DISTURBING},
        {name: _typed(sent, name) for name in HOURS},
    )


def _unchanged(shown: frozenset[str], on: Iterable[str]) -> Ticks:
    ticked = shown.intersection(on)
    return Ticks(shown, ticked, ticked)


def _same(text: str) -> Typed:
    return Typed(text, text)


def _ticks(sent: dict[str, list[str]], place: str) -> Ticks:
    shown = frozenset(CHANNELS).intersection(sent.get(f"{place}.shown", [""])[0].split())
    was = sent.get(f"{place}.was", [""])[0].split()
    return Ticks(shown, shown.intersection(was), shown.intersection(sent.get(place, [])))


def _typed(sent: dict[str, list[str]], name: str) -> Typed:
    """What was not sent was not there to be changed."""
    was = sent.get(f"{name}.was", [""])[0].strip()[:_LONGEST]
    return Typed(was, sent.get(name, [was])[0].strip()[:_LONGEST])
