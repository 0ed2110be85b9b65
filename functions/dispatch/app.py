"""The door for work: nudges from one of the work queues, carried to the next recorded state."""

from datetime import timedelta
from functools import cache

from tocsin.channels.ways import Ways
from tocsin.delivery.dampener import Limits
from tocsin.delivery.over_sending import Guard
from tocsin.delivery.prepare import Policy
from tocsin.foundation.settings import settings
from tocsin.outbox.door import worker_door


def _delivering() -> tuple[Ways, Policy]:
    config = settings()
    limits = Limits(
        timedelta(seconds=config.dampener_window_seconds),
        config.emails_per_user_per_hour,
        Guard(config.over_sending_limit, timedelta(seconds=config.over_sending_window_seconds)),
    )
    return _ways(), Policy(
        config.evidence_window, config.send_concurrency, config.sandbox_domain, limits, config.allow_private_destinations
    )


@cache
def _ways() -> Ways:
    from tocsin.channels.installation import ways_out  # noqa: PLC0415 - the SDK is slow to import; a sweep-fed idle start may not need it

    return ways_out(settings())


handler = worker_door(_delivering)
