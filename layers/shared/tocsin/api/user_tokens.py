"""User tokens: what a browser shows instead of a key."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field, StrictInt

from tocsin.access import token_issuer
from tocsin.access.user_tokens import Person
from tocsin.api.users import user_of
from tocsin.foundation.fields import Closed
from tocsin.http.door import Call, Endpoint, Response


class TokenBody(Closed):
    ttl_seconds: Annotated[StrictInt, Field(ge=60, le=86_400)] = 3_600


def post_token(call: Call) -> Response:
    body: TokenBody = call.request.parsed(TokenBody) if call.request.body else TokenBody()
    user = user_of(call)
    token, expires_at = token_issuer.token_for(Person(call.tenant_id, user.id), timedelta(seconds=body.ttl_seconds))
    return Response(201, {"token": token, "expires_at": expires_at})


ENDPOINTS = [
    Endpoint(
        "POST /v1/users/{id}/tokens",
        "manage",
        post_token,
        "Make a token for a user's browser",
        success=201,
        body=TokenBody,
        body_is_optional=True,
        answers={404: "No such user"},
    ),
]
