"""What both clients hand to httpx. Pure."""

import httpx

from tocsin_client.request import Request
from tocsin_client.version import __version__

SECONDS = 15.0  # the functions behind the calls have ten
_CONNECT = 5.0


def headers_of(key: str) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {key}",
        "User-Agent": f"tocsin-python/{__version__}",
        "Accept": "application/json, application/problem+json",
    }


def timeout_of(request: Request, usual: float) -> httpx.Timeout:
    """Longer than the service was asked to wait."""
    seconds = (usual if request.seconds is None else request.seconds) + request.waits
    return httpx.Timeout(seconds, connect=min(seconds, _CONNECT))
