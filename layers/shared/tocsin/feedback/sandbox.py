"""The sandbox's magic addresses: each plays out one ending, so that a test key can see them all. Pure."""

import hashlib
from datetime import datetime

from tocsin.store.rows import Named, ProviderEvent

_FEEDBACK = {"success": ("delivery", "delivered"), "bounce": ("bounce", "hard_bounced"), "complaint": ("complaint", "complained")}


def ending_of(email: str, domain: str) -> str:
    """`success`, `bounce`, `complaint` or `suppressed` for a magic address (also as success+anything@), else nothing."""
    local, _, host = email.partition("@")
    name = local.partition("+")[0].lower()
    return name if host == domain and (name in _FEEDBACK or name == "suppressed") else ""


def event_of(ending: str, named: Named, message_id: str, at: datetime) -> ProviderEvent | None:
    """What a provider would tell us later of such a message."""
    if ending not in _FEEDBACK:
        return None
    kind, feedback = _FEEDBACK[ending]
    return ProviderEvent(
        key=hashlib.sha256(f"sandbox|{message_id}|{kind}".encode()).digest(),
        provider="sandbox",
        kind=kind,
        feedback=feedback,
        suppresses=ending != "success",
        provider_message_id=message_id,
        named=named,
        detail="played out by the sandbox",
        occurred_at=at,
    )
