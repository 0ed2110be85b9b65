"""Diagnostics: is everything as it must be, and if not, what mends it."""

from datetime import datetime
from typing import Annotated, get_args

from typing_extensions import TypedDict

from tocsin.http.answers import one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.upkeep import diagnostics
from tocsin.upkeep.diagnostic import Health


class DiagnosticCheck(TypedDict):
    """How one thing is, in words, and what mends it; null where there is nothing to mend."""

    name: str
    state: Annotated[str, one_of(*get_args(Health))]
    detail: str
    fix: str | None


class Diagnostics(TypedDict):
    """Whether everything is as it must be."""

    at: datetime
    healthy: bool
    checks: list[DiagnosticCheck]


def get_diagnostics(call: Call) -> Response:
    found = diagnostics.diagnose(call.conn, call.tenant_id)
    checks: list[DiagnosticCheck] = [
        {"name": check.name, "state": check.state, "detail": check.detail, "fix": check.fix} for check in found.checks
    ]
    shown: Diagnostics = {"at": found.at, "healthy": found.is_healthy, "checks": checks}
    return Response(200, shown)


ENDPOINTS = [
    Endpoint(
        "GET /v1/diagnostics",
        "operate",
        get_diagnostics,
        "Is everything as it must be, and if not, what mends it",
        answer=Diagnostics,
    ),
]
