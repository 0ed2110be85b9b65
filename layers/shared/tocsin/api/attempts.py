"""Attempts: the tries of a delivery, as notifications and dead letters show them. Pure."""

from datetime import datetime
from typing import Annotated, Any

from typing_extensions import TypedDict

from tocsin.http.answers import one_of

OUTCOMES = ("accepted", "transient", "throttled", "permanent", "configuration", "unknown", "not_sent")


class Attempt(TypedDict):
    """One try of a delivery. Without an outcome: it is under way, or what became of it is not known. `note`: what was done to its
    words so that the provider takes them."""

    generation: int
    attempt_no: int
    provider: str
    started_at: datetime
    finished_at: datetime | None
    outcome: Annotated[str, one_of(*OUTCOMES)] | None
    error_classification: str
    error_message: str
    provider_message_id: str
    note: str


def shown(attempt: dict[str, Any]) -> Attempt:
    return {
        "generation": attempt["generation"],
        "attempt_no": attempt["attempt_no"],
        "provider": attempt["provider"],
        "started_at": attempt["started_at"],
        "finished_at": attempt["finished_at"],
        "outcome": attempt["outcome"],
        "error_classification": attempt["error_classification"],
        "error_message": attempt["error_message"],
        "provider_message_id": attempt["provider_message_id"],
        "note": attempt["note"],
    }
