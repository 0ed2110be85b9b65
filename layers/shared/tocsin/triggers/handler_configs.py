"""The handlers of triggers: what each kind is told, and what it takes to register one."""

from typing import Any

from tocsin.foundation.destinations import check_url
from tocsin.foundation.settings import settings
from tocsin.webhooks.register import check_egress

FIELDS = {"intent": ("intent",), "webhook": ("url", "timeout_seconds"), "lambda": ("function_arn",)}
_DEFAULTS = {"webhook": {"timeout_seconds": 10}}

TriggerFault = tuple[str, str]  # a JSON pointer and a message


class UnusableTrigger(Exception):
    """It could never run, or not as it says: where (a JSON pointer) and why, for each fault. Whoever asked corrects it."""

    def __init__(self, *faults: TriggerFault) -> None:
        super().__init__("; ".join(f"{pointer} {message}" for pointer, message in faults))
        self.faults = list(faults)


def checked(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """The configuration of a handler of this kind. Raises UnusableTrigger and NoEgress."""
    faults = [(f"/handler/{name}", f"has no place in a handler of the kind {kind}") for name in given if name not in FIELDS[kind]]
    config = _DEFAULTS.get(kind, {}) | given
    faults += [(f"/handler/{name}", "is required") for name in FIELDS[kind] if name not in config]
    if faults := faults or _faults_of(kind, config):
        raise UnusableTrigger(*faults)
    if kind == "webhook":
        check_egress()
    return config


def _faults_of(kind: str, config: dict[str, Any]) -> list[TriggerFault]:
    match kind:
        case "intent":
            from tocsin.triggers.intent_templates import faults_of  # noqa: PLC0415 - Liquid is slow to import, and only this needs it

            return [(f"/handler/intent{pointer}", message) for pointer, message in faults_of(config["intent"])[:20]]
        case "webhook":
            try:
                check_url(config["url"], allow_private=settings().allow_private_destinations)
            except ValueError as error:
                return [("/handler/url", str(error))]
        case "lambda" if config["function_arn"] not in settings().trigger_function_arns:
            return [("/handler/function_arn", "is not among those that this installation may invoke (TriggerFunctionArns)")]
    return []
