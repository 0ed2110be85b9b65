"""How much of what SES lets the account send in 24 hours is used: asked now and then, since nobody says so beforehand."""

import time

from aws_lambda_powertools import Logger

from tocsin.foundation import aws

EVERY_SECONDS = 300.0

log = Logger(child=True)
# The first time after a while, too: a cold start has enough to do.
_next_at = time.monotonic() + EVERY_SECONDS


def used_percent() -> float | None:
    """The share that is used, or None when it is not yet time to ask again, or SES does not say."""
    global _next_at  # noqa: PLW0603 - one execution environment asks for itself
    if time.monotonic() < _next_at:
        return None
    _next_at = time.monotonic() + EVERY_SECONDS
    try:
        quota = aws.client("sesv2").get_account()["SendQuota"]
        most, sent = quota["Max24HourSend"], quota["SentLast24Hours"]
    except Exception as error:  # whatever it is: what is due must be swept all the same
        log.warning("SES does not say what is left of the quota", extra={"error": type(error).__name__})
        return None
    return 100 * sent / most if most > 0 else 0.0  # below zero means that there is no limit
