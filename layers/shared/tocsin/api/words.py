"""Words that answers share: text with all the values it can have, and small shapes that stand in many. Pure."""

from typing import Annotated
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.http.answers import one_of

MODES = ("live", "test")
CHANNELS = ("email", "sms", "push", "in_app")
WAYS = (*CHANNELS, "webhook")
PRIORITIES = ("low", "normal", "high", "critical")
BACKOFFS = ("exponential", "linear", "constant")
WORK_KINDS = ("plan", "deliver", "fanout", "webhook", "trigger")
RUN_OUTCOMES = ("running", "complete", "partial", "failed")
RESOLUTIONS = ("replayed", "ignored", "handled_by_script", "handler_failed")
NOTIFICATION_STATUSES = ("accepted", "in_progress", "finished", "dead_letter")
AUDIENCES = ("users", "address", "tenant", "thread", "scope", "event", "digest")
EVENT_OUTCOMES = ("waiting", "notified", "nobody", "not_routed", "expired", "dead_letter")

Mode = Annotated[str, one_of(*MODES)]
ChannelWord = Annotated[str, one_of(*CHANNELS)]
WayWord = Annotated[str, one_of(*WAYS)]
Priority = Annotated[str, one_of(*PRIORITIES)]
Backoff = Annotated[str, one_of(*BACKOFFS)]
WorkKind = Annotated[str, one_of(*WORK_KINDS)]
RunOutcome = Annotated[str, one_of(*RUN_OUTCOMES)]
Resolution = Annotated[str, one_of(*RESOLUTIONS)]
NotificationStatus = Annotated[str, one_of(*NOTIFICATION_STATUSES)]
EventOutcome = Annotated[str, one_of(*EVENT_OUTCOMES)]


class ThreadRef(TypedDict):
    """What a notification is about, by its kind and id."""

    kind: str
    id: str


class TemplateRef(TypedDict):
    """A version of a template."""

    id: UUID
    name: str
    version: int


class LocalisedTemplateRef(TemplateRef):
    """A version of a template in one language."""

    locale: str


class AtLeast(TypedDict):
    """A number of which only so many were counted."""

    count: int
    at_least: bool


class SmsParts(TypedDict):
    """How many SMS a text takes. `units` are septets in GSM-7 and 16-bit units in UCS-2."""

    encoding: Annotated[str, one_of("GSM-7", "UCS-2")]
    units: int
    parts: int
