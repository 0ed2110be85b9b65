"""User tokens: what a browser shows instead of a key."""

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field, StrictInt
from typing_extensions import TypedDict

from tocsin.api.users import external_id_of, named_user
from tocsin.foundation.fields import Closed
from tocsin.http.door import Call, Endpoint, Response
from tocsin.people import issue_token


class TokenBody(Closed):
    ttl_seconds: Annotated[StrictInt, Field(ge=60, le=86_400)] = 3_600


class UserToken(TypedDict):
    """A token for a user's browser."""

    token: str
    expires_at: datetime


def post_token(call: Call) -> Response:
    body: TokenBody = call.request.parsed(TokenBody) if call.request.body else TokenBody()
    external_id, lifetime = external_id_of(call), timedelta(seconds=body.ttl_seconds)
    with named_user():
        token, expires_at = issue_token.issue(call.conn, call.actor, external_id, lifetime)
    made: UserToken = {"token": token, "expires_at": expires_at}
    return Response(201, made)


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
        answer=UserToken,
    ),
]
