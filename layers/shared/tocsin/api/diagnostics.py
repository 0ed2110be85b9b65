"""Diagnostics: is everything as it must be, and if not, what mends it."""

from dataclasses import asdict

from tocsin.http.door import Call, Endpoint, Response
from tocsin.upkeep import diagnostics


def get_diagnostics(call: Call) -> Response:
    found = diagnostics.diagnose(call.conn, call.tenant_id)
    return Response(200, {"at": found.at, "healthy": found.is_healthy, "checks": [asdict(check) for check in found.checks]})


ENDPOINTS = [
    Endpoint("GET /v1/diagnostics", "operate", get_diagnostics, "Is everything as it must be, and if not, what mends it"),
]
