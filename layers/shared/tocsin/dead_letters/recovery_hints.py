"""What a person can do about a dead letter, by the classification of its failure. Pure."""

_HINTS = {
    "exhausted": "The provider kept failing. See the attempts for its answers; replay once it is healthy again.",
    "no_retry": "Somebody waited for the outcome of this one attempt, so it was not tried again. "
    "Replay it, or send a new intent.",
    "permanent": "The provider refused this message for good. Correct the recipient's address, then replay; if the content is "
    "wrong, send a new intent.",
    "unrenderable": "The payload cannot be rendered for this channel; the failure message says which part and why. "
    "Make the template's next version, then replay; if the payload is wrong, send a new intent.",
    "attachment": "A file of this email cannot be attached; the failure message says which and why. Put it where it can be "
    "fetched and replay, or send a new intent with another address.",
    "ambiguous": "The provider's answer was lost, so the message may have arrived. Ask the recipient or the provider "
    "before you replay: a replay may be a second copy.",
    "webhook_exhausted": "The endpoint kept failing. See the hook's deliveries for its answers; replay once it is healthy.",
    "poison_event": "This event could not be fanned out. Look for its id in the dispatch log, mend the cause, then replay.",
    "unknown_kind": "Another version of the code wrote this work. Deploy one that knows the kind, then replay.",
    "orphaned": "The record or route that this work was for is gone or unreadable. If it was erased, resolve this as ignored.",
    "principal_revoked": "A trigger runs as the key that registered it, and that key is revoked, has expired or lacks the scope. "
    "Register the trigger anew with a key that has it, then replay.",
    "function_not_allowed": "Add the function to the parameter TriggerFunctionArns and deploy, or change the trigger's handler; "
    "then replay.",
    "handler_exhausted": "The trigger's handler failed at every try; the failure message has its last answer. Replay once it "
    "works.",
    "handler_permanent": "The trigger's handler refused this for good; the failure message says why. Correct the trigger, or "
    "what it needs, then replay.",
    "poison": "This work ended its worker three times. Look for its id in the dispatch log, mend the cause, then replay.",
}
_IN_DOUBT = " An earlier attempt may have arrived: a replay may be a second copy."


def hint_for(classification: str, *, in_doubt: bool = False) -> str:
    hint = _HINTS.get(classification, "Look at the attempts and the failure message, mend the cause, then replay.")
    return hint + _IN_DOUBT if in_doubt and classification != "ambiguous" else hint
