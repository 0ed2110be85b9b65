"""Why a letter is not replayed: what stands in the way, and what whoever asked can do about it. Pure."""

from dataclasses import dataclass

from tocsin.store.rows import LetterStanding

_SEEN_TO = ("replayed", "ignored", "handled_by_script")


@dataclass(frozen=True, slots=True)
class Obstacle:
    """`reason` is for machines and counts, `detail` for people."""

    reason: str
    detail: str


RESOLVED = "already_resolved"
EXPIRED = "expired"


def obstacle_of(letter: LetterStanding, *, past_expiry: bool) -> Obstacle | None:
    """None: nothing does."""
    if letter.resolution in _SEEN_TO:
        return Obstacle(RESOLVED, f"This dead letter is resolved already: {letter.resolution}.")
    if letter.failure_classification == "orphaned":
        return Obstacle("orphaned", "What this work was about is gone, or cannot be read. Resolve the letter as ignored.")
    found = _BY_KIND.get(letter.source_kind, _of_unknown_kind)(letter)
    if found is None and letter.source_kind in ("plan", "fanout", "deliver") and letter.is_expired and not past_expiry:
        return Obstacle(EXPIRED, 'The notification has expired. Send {"past_expiry": true} to replay it all the same.')
    return found


def _of_delivery(letter: LetterStanding) -> Obstacle | None:
    if letter.is_cancelled:
        return Obstacle("cancelled", "The notification was cancelled.")
    if not letter.is_dead_route:
        return Obstacle("superseded", "The route is not dead any more, or was erased.")
    if not letter.has_recipient:
        return Obstacle("recipient_gone", "The recipient is not a user any more.")
    if letter.is_proven:
        return Obstacle("arrived", "The provider has confirmed since that it took this message. Resolve the letter as ignored.")
    return None


def _of_plan(letter: LetterStanding) -> Obstacle | None:
    if not letter.has_record:
        return Obstacle("record_gone", "The notification is not there any more.")
    if letter.is_cancelled:
        return Obstacle("cancelled", "The notification was cancelled.")
    return _if_under_way(letter)


def _of_fan_out(letter: LetterStanding) -> Obstacle | None:
    return _if_under_way(letter) if letter.has_event else Obstacle("event_gone", "The event is not kept any more.")


def _of_webhook(letter: LetterStanding) -> Obstacle | None:
    if not letter.has_delivery:
        return Obstacle("delivery_gone", "The webhook is deleted, or its delivery is not kept any more.")
    if not letter.has_active_hook:
        return Obstacle("webhook_disabled", "The webhook is disabled. Switch it on first: PATCH `is_active` to true.")
    return None


def _of_trigger(letter: LetterStanding) -> Obstacle | None:
    if not letter.has_trigger:
        return Obstacle("trigger_gone", "The trigger is deleted.")
    if not letter.has_enabled_trigger:
        return Obstacle("trigger_disabled", "The trigger is disabled. Enable it first.")
    return None


def _if_under_way(letter: LetterStanding) -> Obstacle | None:
    return Obstacle("under_way", "The same work is under way again.") if letter.is_under_way else None


def _of_unknown_kind(letter: LetterStanding) -> Obstacle | None:
    return Obstacle("unknown_kind", "This version knows no such work. Deploy one that does, then replay.")


_BY_KIND = {
    "deliver": _of_delivery,
    "plan": _of_plan,
    "fanout": _of_fan_out,
    "webhook": _of_webhook,
    "trigger": _of_trigger,
    "replay": _if_under_way,
}
