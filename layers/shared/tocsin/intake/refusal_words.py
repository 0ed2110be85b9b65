"""Why an intent is refused, in words for who reads no pointers: a malformed message, or a trigger's dead letter."""

from tocsin.intake.accept_intents import (
    AttributesTooLarge,
    KeyReused,
    MissingVariables,
    NothingToSay,
    Refusal,
    TakenByAnother,
    UnknownTemplate,
    UnknownUsers,
)

CODES = {
    KeyReused: "idempotency_conflict",
    UnknownUsers: "recipient_not_found",
    TakenByAnother: "already_taken",
    AttributesTooLarge: "too_large",
    UnknownTemplate: "unknown_template",
    MissingVariables: "missing_variables",
    NothingToSay: "nothing_to_say",
}


def code_of(end: Refusal) -> str:
    return CODES[type(end)]


def words_of(end: Refusal) -> str:
    match end:
        case KeyReused():
            return "the idempotency key belongs to another request"
        case UnknownUsers(user_ids):
            return f"unknown users: {', '.join(list(user_ids.values())[:20])}"
        case TakenByAnother(_, user_id, name):
            return f"another user than {user_id} has this {name}"
        case AttributesTooLarge(_, user_id):
            return f"the attributes of {user_id} would be too many, with those that are known"
        case UnknownTemplate(name):
            return f"there is no active template {name[:100]}"
        case MissingVariables(names):
            return f"the payload lacks {', '.join(names[:20])}"
        case NothingToSay():
            return "the payload has no words, and there is no template"
