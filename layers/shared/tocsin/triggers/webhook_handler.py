"""The handler `webhook`: a signed POST (Standard Webhooks) tells somebody's own server of the event."""

from tocsin.store.rows import TriggerRun
from tocsin.triggers.retry import HandlerFailure
from tocsin.webhooks import signing_secrets
from tocsin.webhooks.answers import EndpointAnswer
from tocsin.webhooks.ask import SignedCall

USUAL_TIMEOUT = 10.0  # seconds


def signed_call(run: TriggerRun, body: bytes, headers: dict[str, str]) -> SignedCall:
    """Every try of a run has the same id, so that a receiver can tell a repetition."""
    handler = run.handler
    assert handler and handler.secret  # noqa: S101  for the type checker: the schema has one for each webhook
    return SignedCall(
        run.work.tenant_id,
        handler.config["url"],
        run.work.id,
        body,
        tuple(secret for secret in (handler.secret, handler.previous_secret) if secret),
        signing_secrets.purpose_of("handler", handler.id),
        float(handler.config.get("timeout_seconds", USUAL_TIMEOUT)),
        run.trace_id,
        headers,
    )


def failure_of(answer: EndpointAnswer) -> HandlerFailure | None:
    """2xx is a success, and anything else may be one at the next try."""
    if answer.is_success:
        return None
    if answer.status is None:
        return HandlerFailure(answer.error, f"there was no answer: {answer.error}")
    return HandlerFailure(str(answer.status), f"the handler answered {answer.status}: {answer.body}")
