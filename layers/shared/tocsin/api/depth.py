"""How deep in a chain of triggers a call is, as the header says that a handler brings back."""

from tocsin.access import depth_tokens
from tocsin.foundation import secrets
from tocsin.foundation.settings import settings
from tocsin.http import problems
from tocsin.http.door import Call
from tocsin.http.problems import Problem
from tocsin.triggers import loops

# For the documentation of the calls that read it.
HEADER_PARAMETER = {
    "name": depth_tokens.HEADER,
    "in": "header",
    "description": "What a webhook or a trigger's handler was given, sent back unchanged: so a loop ends.",
    "schema": {"type": "string"},
}


def depth_of(call: Call) -> int:
    """How many triggers and webhooks led to this call: 0 where nothing says so. A token that this tenant was not given is
    refused, and so is what comes out of a loop."""
    token = call.request.headers.get(depth_tokens.HEADER.lower())
    if token is None:
        return 0
    depth = depth_tokens.verify(token.strip(), call.tenant_id, secrets.accepted(settings().user_token_secret_arn))
    if depth is None:
        raise problems.invalid(
            f"The header `{depth_tokens.HEADER}` is not one that this tenant was given. Send it back as it came, or not at all.",
            [{"pointer": depth_tokens.HEADER, "message": "is not valid"}],
        )
    try:
        loops.check_depth(call.conn, call.tenant_id, depth)
    except loops.TooDeep:
        detail = (
            f"More than {settings().max_trigger_depth} triggers and webhooks led here in a row (MaxTriggerDepth). This is a loop."
        )
        raise Problem(409, "trigger-depth-exceeded", "Too many triggers led here", detail) from None
    return depth
