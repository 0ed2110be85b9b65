"""The sandbox's magic addresses: each plays out one ending, so that a test key can see them all. Pure."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from tocsin.store.rows import Named, ProviderEvent

_FEEDBACK = {"success": ("delivery", "delivered"), "bounce": ("bounce", "hard_bounced"), "complaint": ("complaint", "complained")}


def ending_of(email: str, domain: str) -> str:
    """`success`, `bounce`, `complaint` or `suppressed` for a magic address (also as success+anything@), else nothing."""
    local, _, host = email.partition("@")
    name = local.partition("+")[0].lower()
    return name if host == domain and (name in _FEEDBACK or name == "suppressed") else ""


@dataclass(frozen=True, slots=True)
class Played:
    """A message that the sandbox took: nobody but us will tell how it went on."""

    email: str
    named: Named
    message_id: str
    at: datetime


def events_of(played: list[Played], domain: str) -> list[ProviderEvent]:
    """What a provider would tell us later of these messages."""
    endings = [(one, ending_of(one.email, domain)) for one in played]
    return [_event(ending, one) for one, ending in endings if ending in _FEEDBACK]


def _event(ending: str, one: Played) -> ProviderEvent:
    kind, feedback = _FEEDBACK[ending]
    return ProviderEvent(
        key=hashlib.sha256(f"sandbox|{one.message_id}|{kind}".encode()).digest(),
        provider="sandbox",
        kind=kind,
        feedback=feedback,
        suppresses=ending != "success",
        provider_message_id=one.message_id,
        named=one.named,
        detail="played out by the sandbox",
        occurred_at=one.at,
    )
