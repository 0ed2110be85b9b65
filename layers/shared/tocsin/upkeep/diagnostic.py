"""What a check says: how it is, why, and what mends it. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Health = Literal["ok", "warning", "failed", "unknown"]
# The checks by name, the cause before what follows from it.
ORDER = ("configuration", "database", "migrations", "clock", "queues", "ses_account", "ses_identity", "jobs", "lanes", "audit")
_WORST_FIRST: tuple[Health, ...] = ("failed", "unknown", "warning")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One check: how it is, in words, and what mends it; None where there is nothing to mend."""

    name: str
    state: Health
    detail: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Flaw:
    state: Health
    what: str
    fix: str


def judged(name: str, flaws: Iterable[Flaw], *, well: str) -> Diagnostic:
    """As bad as the worst of them, which comes first. The same advice is given once."""
    found = sorted(flaws, key=lambda flaw: _WORST_FIRST.index(flaw.state))
    if not found:
        return Diagnostic(name, "ok", well)
    fixes = dict.fromkeys(flaw.fix for flaw in found)
    return Diagnostic(name, found[0].state, " ".join(flaw.what for flaw in found), " ".join(fixes))
