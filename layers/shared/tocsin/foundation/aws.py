"""AWS clients, imported and made on first use: the SDK is the slowest thing a cold start can do."""

from functools import cache
from typing import Any

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
    )
    return boto3.client(service, config=config)  # type: ignore[call-overload]
