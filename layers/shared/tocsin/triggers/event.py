"""What a run is about, as its handler is told. Pure."""

from datetime import UTC
from typing import Any

from tocsin.store.rows import TriggerRun

_OURS = ("trigger_id", "dead_letter_id")  # of the payload: what finds the rest


def event_of(run: TriggerRun) -> dict[str, Any]:
    """The dead letter that caused the run, or else what its work says: whatever kind of trigger it is of."""
    if run.letter is not None:
        return run.letter
    return {name: value for name, value in (run.work.payload or {}).items() if name not in _OURS}


def message_of(run: TriggerRun) -> dict[str, Any]:
    """The same for a handler that is somebody's own code. Every try of the run says the same."""
    assert run.trigger and run.handler  # noqa: S101  for the type checker: what is gone is not run
    return {
        "type": f"trigger.{run.trigger.kind}",
        "timestamp": run.work.created_at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "data": {"event": event_of(run), "trigger_id": str(run.trigger.id), "handler_id": str(run.handler.id)},
    }
