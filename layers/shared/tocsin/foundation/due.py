"""A piece of work that a nudge names. Pure."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Due:
    """A piece of work that a nudge names: on which queue, and whose it is."""

    id: UUID
    queue: str
    tenant_id: UUID
