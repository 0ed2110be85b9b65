"""AWS clients, imported and made on first use: the SDK is the slowest thing a cold start can do."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger

from tocsin.foundation import trouble
from tocsin.foundation.settings import settings

# Time limits in seconds by service: (connect, read). The SDK's own retries are off everywhere: on a sending client they would
# duplicate messages, elsewhere our own retry is the outbox.
_LIMITS = {
    "sesv2": (3, 10),
    "sns": (3, 10),
    "sqs": (0.3, 0.3),
    "secretsmanager": (2, 5),
    "kms": (2, 5),
    "lambda": (2, 8),
    "s3": (2, 15),
}
_POOL = 32
# What a service calls it when a role lacks a right.
_DENIED = ("AccessDenied", "AuthorizationError", "NotAuthorized", "Unauthorized")

log = Logger(child=True)


@cache
def client(service: str, limits: tuple[float, float] | None = None) -> Any:
    """The client of a service; `limits` gives it other times than usual (connect, read)."""
    import boto3  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415

    connect_timeout, read_timeout = limits or _LIMITS[service]
    config = Config(
        connect_timeout=connect_timeout,
        read_timeout=read_timeout,
        retries={"mode": "standard", "total_max_attempts": 1},
        max_pool_connections=_POOL,
        use_dualstack_endpoint=_goes_over_ipv6(),
    )
    made = boto3.client(service, config=config)  # type: ignore[call-overload]
    made.meta.events.register("after-call", _notice_refusal)
    return made


def _goes_over_ipv6() -> bool:
    """Then IPv4 leads nowhere, and trying it would take as long as connecting may: only the other addresses are looked up."""
    if not settings().aws_over_ipv6 or settings().aws_endpoint_url:
        return False
    import socket  # noqa: PLC0415

    from urllib3.util import connection  # noqa: PLC0415 - under every client of the SDK, and under nothing else of ours

    connection.allowed_gai_family = lambda: socket.AF_INET6
    return True


def _notice_refusal(parsed: dict[str, Any], model: Any, **_: Any) -> None:
    """What is refused for lack of rights is no hiccup: it will be refused until somebody mends a role or a policy."""
    code = str(parsed.get("Error", {}).get("Code", ""))
    if any(word in code for word in _DENIED):
        call = f"{model.service_model.service_name}:{model.name}"
        log.error("AWS refused a call for lack of rights", extra={"call": call, "code": code})
        trouble.tell("AccessDenied", call=call)
