"""Why an intent is refused, as a problem with pointers to the places."""

from tocsin.foundation.field_errors import first_of
from tocsin.http import problems
from tocsin.http.problems import Problem
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
from tocsin.people.user_fields import MAX_ATTRIBUTES


def refusal(end: Refusal, *, key_at: str = "Idempotency-Key") -> Problem:
    match end:
        case KeyReused():
            return Problem(
                422,
                "idempotency-key-reused",
                "The idempotency key belongs to another request",
                "Use a new key for a new intent; repeat an intent unchanged.",
                [{"pointer": key_at, "message": "was used before, for another intent"}],
            )
        case UnknownTemplate(name):
            return Problem(
                422,
                "unknown-template",
                "The template is not known",
                f"There is no active template `{name[:100]}` that has words for one of the channels.",
                [{"pointer": "/template", "message": "is not known, or has no words for these channels"}],
            )
        case MissingVariables(names):
            errors = [{"pointer": f"/payload/{name}", "message": "is required by the template"} for name in names[:20]]
            return Problem(422, "missing-variables", "The payload lacks variables", first_of(errors), errors)
        case NothingToSay():
            return Problem(
                422,
                "nothing-to-say",
                "There is nothing to say",
                "Without a template the payload needs words: a `title`, a `message`, or other fields that are not empty.",
                [{"pointer": "/payload", "message": "has no words"}],
            )
        case UnknownUsers(user_ids):
            return _unknown_users(user_ids)
        case AttributesTooLarge(place):
            message = f"would have more than {MAX_ATTRIBUTES} bytes with those that are known"
            return problems.invalid_field(f"/audience/user_ids/{place}/attributes", message)
        case TakenByAnother(place, user_id, name):
            return Problem(
                409,
                "already-taken",
                f"The {name} is taken",
                f"Another user than {user_id} has this {name}; nothing was stored.",
                [{"pointer": f"/audience/user_ids/{place}/{name}", "message": "is another user's"}],
            )


def _unknown_users(user_ids: dict[str, str]) -> Problem:
    first = dict(list(user_ids.items())[:20])
    return Problem(
        422,
        "unknown-users",
        "Some users are not known",
        f"Make them known with PUT /v1/users/{{id}} first, or give them here with their addresses: {', '.join(first.values())}",
        [
            {"pointer": f"/audience/user_ids/{place}", "message": f"{name} is not known{_hint(name)}"}
            for place, name in first.items()
        ],
    )


def _hint(user_id: str) -> str:
    """An id is whatever a producer says, so an address may be one; mostly it was meant as an address."""
    return "; an address without a user is an audience of the kind `address`" if "@" in user_id else ""
