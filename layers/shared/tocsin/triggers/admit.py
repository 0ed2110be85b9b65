"""Whether a run may begin: what is gone or switched off ends at once, and nobody acts on a key that has lost its rights. Pure."""

from collections.abc import Collection
from typing import Literal

from tocsin.dead_letters.recovery_hints import hint_for
from tocsin.store.rows import RunEnd, TriggerRun

# What a handler does in the name of its key, and what a trigger lets it hear of, is for those who may do so themselves.
_BY_HANDLER = {"intent": "send"}
_BY_KIND = {"kv": "data", "dead_letter": "operate"}

NotRun = Literal["deleted", "disabled", "letter_gone", "too_deep"]


def needed_scopes(kind: str, handler_kind: str) -> list[str]:
    """Of the key that registers such a trigger, and whenever it runs."""
    return [scope for scope in (_BY_KIND.get(kind), _BY_HANDLER.get(handler_kind)) if scope]


def not_run(run: TriggerRun, *, max_depth: int) -> NotRun | None:
    """Why it ends without being tried, and without a dead letter."""
    if run.trigger is None or run.handler is None:
        return "deleted"
    if not run.trigger.enabled:
        return "disabled"
    if "dead_letter_id" in (run.work.payload or {}) and run.letter is None:
        return "letter_gone"
    if run.work.trigger_depth > max_depth:
        return "too_deep"
    return None


def refusal(run: TriggerRun, *, function_arns: Collection[str]) -> RunEnd | None:
    """Why it fails for good before it is tried."""
    assert run.trigger and run.handler  # noqa: S101  for the type checker: what is gone is not run
    if run.key is None or not run.key.is_usable:
        return _refused(run, "principal_revoked", "the key that registered the trigger is revoked or has expired")
    for scope in needed_scopes(run.trigger.kind, run.handler.kind):
        if scope not in run.key.scopes:
            return _refused(run, "principal_revoked", f"the key that registered the trigger lacks the scope {scope}")
    if run.handler.kind == "lambda" and run.handler.config.get("function_arn") not in function_arns:
        return _refused(run, "function_not_allowed", "the function is not, or no longer, among those that triggers may invoke")
    return None


def _refused(run: TriggerRun, classification: str, message: str) -> RunEnd:
    return RunEnd(run.work.id, "failed", classification=classification, message=message, hint=hint_for(classification))
