"""Providers: a tenant's own ways out. Secrets go in and never come back."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from aws_lambda_powertools import Logger
from pydantic import AfterValidator, Field, StrictBool, StrictInt
from typing_extensions import TypedDict

from tocsin.access import providers
from tocsin.access.providers import NewProvider, Tuning, Unfit
from tocsin.foundation import encryption
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed
from tocsin.foundation.ids import as_uuid
from tocsin.http import paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.store import provider_configs
from tocsin.store.provider_configs import ProviderConfig

log = Logger(child=True)


def _fits(secret: str) -> str:
    if len(secret.encode()) > encryption.MAX_PLAINTEXT:
        raise ValueError(f"must have at most {encryption.MAX_PLAINTEXT} bytes")
    return secret


Secret = Annotated[str, Field(min_length=1), AfterValidator(_fits)]


class ProviderBody(Closed):
    provider_name: Literal["ses", "sns", "sendgrid", "twilio", "fcm"]
    channel: Literal["email", "sms", "push"]
    api_key: Secret | None = None
    api_secret: Secret | None = None
    config: dict[str, Any] = Field(default_factory=dict)
    is_active: StrictBool = True
    rate_limit: Annotated[StrictInt, Field(ge=1, le=1_000_000)] | None = None
    timeout_seconds: Annotated[StrictInt, Field(ge=1, le=10)] = 10
    priority: Annotated[StrictInt, Field(ge=-1_000, le=1_000)] = 10


class ProviderChange(Closed):
    is_active: StrictBool | None = None
    rate_limit: Annotated[StrictInt, Field(ge=1, le=1_000_000)] | None = None
    timeout_seconds: Annotated[StrictInt, Field(ge=1, le=10)] | None = None
    priority: Annotated[StrictInt, Field(ge=-1_000, le=1_000)] | None = None


class Provider(TypedDict):
    """A tenant's own way out, without its secrets."""

    id: UUID
    provider_name: Annotated[str, one_of(*providers.CHANNELS)]
    channel: Annotated[str, one_of("email", "sms", "push")]
    config_json: dict[str, Any]
    is_active: bool
    rate_limit: int | None
    timeout_seconds: int
    priority: int
    created_at: datetime
    updated_at: datetime
    has_api_key: bool
    has_api_secret: bool


def list_providers(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        rows = provider_configs.find_all(call.conn, [call.tenant_id])
    return paging.whole([_shown(row) for row in rows])


def post_provider(call: Call) -> Response:
    body: ProviderBody = call.request.parsed(ProviderBody)
    try:
        row = providers.add(call.conn, call.actor, NewProvider(**body.model_dump()))
    except Unfit as error:
        raise problems.invalid_field(f"/{error.field}", str(error)) from None
    except encryption.CannotSeal as error:
        log.error("a secret cannot be sealed", extra={"request_id": call.request.request_id, "error": str(error)})
        raise problems.unavailable("Secrets cannot be sealed just now.") from None
    return Response(201, _shown(row))


def patch_provider(call: Call) -> Response:
    change: ProviderChange = call.request.parsed(ProviderChange)
    config_id = as_uuid(call.request.path_parameters.get("id", ""))
    tuning = Tuning(**change.model_dump())
    row = providers.change(call.conn, call.actor, config_id, tuning) if config_id else None
    if row is None:
        raise problems.not_found("provider")
    return Response(200, _shown(row))


def delete_provider(call: Call) -> Response:
    config_id = as_uuid(call.request.path_parameters.get("id", ""))
    if config_id is None or not providers.remove(call.conn, call.actor, config_id):
        raise problems.not_found("provider")
    return Response(204)


def _shown(row: ProviderConfig) -> Provider:
    return {
        "id": row.id,
        "provider_name": row.provider_name,
        "channel": row.channel,
        "config_json": row.config_json,
        "is_active": row.is_active,
        "rate_limit": row.rate_limit,
        "timeout_seconds": row.timeout_seconds,
        "priority": row.priority,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "has_api_key": row.api_key is not None,
        "has_api_secret": row.api_secret is not None,
    }


ENDPOINTS = [
    Endpoint("GET /v1/providers", "admin", list_providers, "List the tenant's own providers", answer=PageOf[Provider]),
    Endpoint(
        "POST /v1/providers",
        "admin",
        post_provider,
        "Add a provider; its secrets are never shown again",
        success=201,
        body=ProviderBody,
        answer=Provider,
    ),
    Endpoint(
        "PATCH /v1/providers/{id}",
        "admin",
        patch_provider,
        "Change priority, rate, timeout or whether it is active",
        body=ProviderChange,
        answer=Provider,
        answers={404: "No such provider"},
    ),
    Endpoint(
        "DELETE /v1/providers/{id}",
        "admin",
        delete_provider,
        "Remove a provider",
        success=204,
        answers={404: "No such provider"},
    ),
]
