"""The handlers of triggers: what each kind is told, what it takes to register one, and the secret with which it signs."""

import base64
import os
from typing import Any
from uuid import UUID

from tocsin.foundation import encryption
from tocsin.foundation.destinations import check_url
from tocsin.foundation.settings import settings

FIELDS = {"intent": ("intent",), "webhook": ("url", "timeout_seconds"), "lambda": ("function_arn",)}
NEEDS_SCOPE = {"intent": "send"}  # a run acts as the key that registered it, which must be allowed to do so itself
_DEFAULTS = {"webhook": {"timeout_seconds": 10}}

TriggerFault = tuple[str, str]  # a JSON pointer and a message


class UnusableTrigger(Exception):
    """It could never run, or not as it says: where (a JSON pointer) and why, for each fault. Whoever asked corrects it."""

    def __init__(self, *faults: TriggerFault) -> None:
        super().__init__("; ".join(f"{pointer} {message}" for pointer, message in faults))
        self.faults = list(faults)


class EgressRequired(Exception):
    """No way leads from this installation to the internet. Whoever deployed it opens one (InternetEgress)."""


def checked(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """The configuration of a handler of this kind. Raises UnusableTrigger and EgressRequired."""
    faults = [(f"/handler/{name}", f"has no place in a handler of the kind {kind}") for name in given if name not in FIELDS[kind]]
    config = _DEFAULTS.get(kind, {}) | given
    faults += [(f"/handler/{name}", "is required") for name in FIELDS[kind] if name not in config]
    if faults := faults or _faults_of(kind, config):
        raise UnusableTrigger(*faults)
    if kind == "webhook" and settings().internet_egress == "false" and not settings().allow_private_destinations:
        raise EgressRequired
    return config


def new_secret() -> str:
    """In the form of Standard Webhooks."""
    return f"whsec_{base64.b64encode(os.urandom(32)).decode()}"


def sealed(secret: str, tenant_id: UUID, handler_id: UUID) -> bytes:
    """Raises CannotSeal while KMS cannot be asked."""
    purpose = f"handler:{handler_id}:secret"
    return encryption.seal(secret, tenant_id=tenant_id, purpose=purpose, key_arn=settings().data_key_arn)


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
