"""The steps of a timeline, and decisions as they happen, as sentences: one wording for `explain` and `tail`. Pure."""

from typing import Any

from tocsin_cli.reasons import meaning

Step = dict[str, Any]

# what happened: what is said before its reason, and in which colour
_WORDS = {
    "accepted": ("Accepted", "green"),
    "cancel_asked": ("Somebody asked to cancel it", "yellow"),
    "scheduled": ("Scheduled", "cyan"),
    "planned": ("Planned:", ""),
    "deferred": ("Put off:", "cyan"),
    "waiting": ("Waits:", "cyan"),
    "attempt_opened": ("Began", ""),
    "attempt_accepted": ("Taken:", "green"),
    "attempt_transient": ("Failed, for a reason that may pass:", "yellow"),
    "attempt_throttled": ("Throttled:", "yellow"),
    "attempt_permanent": ("Refused for good:", "red"),
    "attempt_configuration": ("Refused, as something is configured wrongly:", "red"),
    "attempt_unknown": ("The answer was lost:", "magenta"),
    "attempt_not_sent": ("Not sent:", "yellow"),
    "published": ("Published:", "bold green"),
    "skipped": ("Skipped:", "bold yellow"),
    "cancelled": ("Cancelled:", "bold yellow"),
    "dead_letter": ("Given up:", "bold red"),
    "replayed": ("Replayed", "green"),
    "ignored": ("Laid aside", "yellow"),
    "handled_by_script": ("Handled by a trigger", "green"),
    "handler_failed": ("Its trigger failed", "red"),
    "provider_send": ("On its way, says", ""),
    "provider_delivery": ("Delivered, says", "bold green"),
    "provider_deliverydelay": ("Delayed, says", "yellow"),
    "provider_bounce": ("Bounced, says", "bold red"),
    "provider_complaint": ("Complained of, says", "bold red"),
    "provider_reject": ("Rejected, says", "bold red"),
    "provider_renderingfailure": ("Not rendered, says", "bold red"),
}
_EXPLAINED = ("skipped", "cancelled", "dead_letter", "deferred", "waiting")


def sentence(step: Step) -> tuple[str, str]:
    """What is said of a step, and its colour."""
    what, reason = str(step.get("what", "")), str(step.get("reason") or "")
    begin, colour = _WORDS.get(what, (f"{what.replace('_', ' ').capitalize()}:", ""))
    said = f"{begin} {reason}".rstrip(": ") if not reason else f"{begin} {reason}"
    means = meaning(reason) if what in _EXPLAINED else ""
    return f"{said} ({means})" if means and means not in said else said, colour


def about(step: Step, route: dict[str, Any]) -> str:
    """Which route a step is of, where it does not say so itself."""
    is_told = not route.get("channel") or step.get("what") == "planned"
    return "" if is_told else f"{route['channel']} to {route['recipient']}: "
