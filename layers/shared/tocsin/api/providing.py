"""Providing: a tenant's own ways out. Secrets go in and never come back."""

from dataclasses import asdict
from typing import Annotated, Any, Literal
from uuid import UUID

from aws_lambda_powertools import Logger
from pydantic import AfterValidator, Field, StrictBool, StrictInt

from tocsin import audit, problems, sealing
from tocsin.database import tenant_transaction
from tocsin.http import Call, Endpoint, Response
from tocsin.ids import as_uuid, uuid7
from tocsin.intents import Closed
from tocsin.settings import settings
from tocsin.store import provider_configs
from tocsin.store.provider_configs import ProviderConfig

log = Logger(child=True)

CHANNELS = {"ses": "email", "sendgrid": "email", "sns": "", "twilio": "sms", "fcm": "push"}
_NEEDS_KEY = ("sendgrid", "twilio", "fcm")


def _fits(secret: str) -> str:
    if len(secret.encode()) > sealing.MAX_PLAINTEXT:
        raise ValueError(f"must have at most {sealing.MAX_PLAINTEXT} bytes")
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


def list_providers(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        rows = provider_configs.find_all(call.conn, [call.tenant_id])
    return Response(200, {"data": [_shown(row) for row in rows], "next_cursor": None})


def post_provider(call: Call) -> Response:
    body: ProviderBody = call.request.parsed(ProviderBody)
    fits = CHANNELS[body.provider_name] or ("push" if body.channel == "push" else "sms")
    if body.channel != fits:
        raise problems.invalid_field("/channel", f"{body.provider_name} serves {CHANNELS[body.provider_name] or 'sms and push'}")
    if body.provider_name in _NEEDS_KEY and not body.api_key:
        raise problems.invalid_field("/api_key", f"{body.provider_name} needs one")
    config_id = uuid7()
    api_key = _sealed(call, config_id, "api_key", body.api_key)
    api_secret = _sealed(call, config_id, "api_secret", body.api_secret)
    with tenant_transaction(call.conn, call.tenant_id):
        row = provider_configs.insert(
            call.conn,
            config_id=config_id,
            tenant_id=call.tenant_id,
            api_key=api_key,
            api_secret=api_secret,
            config_json=body.config,
            **body.model_dump(exclude={"config", "api_key", "api_secret"}),
        )
        audit.record(call, "create", "provider", str(row.id), {"new": _plain(row)})
    return Response(201, _shown(row))


def patch_provider(call: Call) -> Response:
    change: ProviderChange = call.request.parsed(ProviderChange)
    config_id = as_uuid(call.request.path_parameters.get("id", ""))
    with tenant_transaction(call.conn, call.tenant_id):
        old = provider_configs.find(call.conn, call.tenant_id, config_id) if config_id else None
        row = provider_configs.update(call.conn, call.tenant_id, old.id, **change.model_dump()) if old else None
        if old is None or row is None:
            raise problems.not_found("provider")
        changed = change.model_dump(exclude_none=True)
        before = {name: value for name, value in _plain(old).items() if name in changed}
        audit.record(call, "update", "provider", str(row.id), {"old": before, "new": changed})
    return Response(200, _shown(row))


def delete_provider(call: Call) -> Response:
    config_id = as_uuid(call.request.path_parameters.get("id", ""))
    with tenant_transaction(call.conn, call.tenant_id):
        old = provider_configs.find(call.conn, call.tenant_id, config_id) if config_id else None
        if old is None:
            raise problems.not_found("provider")
        provider_configs.delete(call.conn, call.tenant_id, old.id)
        audit.record(call, "delete", "provider", str(old.id), {"old": _plain(old)})
    return Response(204)


def _sealed(call: Call, config_id: UUID, name: str, value: str | None) -> bytes | None:
    if value is None:
        return None
    purpose = f"provider:{config_id}:{name}"
    try:
        return sealing.seal(value, tenant_id=call.tenant_id, purpose=purpose, key_arn=settings().data_key_arn)
    except sealing.CannotSeal as error:
        log.error("a secret cannot be sealed", extra={"request_id": call.request.request_id, "error": str(error)})
        raise problems.unavailable("Secrets cannot be sealed just now.") from None


def _plain(row: ProviderConfig) -> dict[str, Any]:
    """What may be written down of a provider: all but its secrets."""
    names = ("provider_name", "channel", "priority", "is_active", "rate_limit", "timeout_seconds")
    return {name: getattr(row, name) for name in names}


def _shown(row: ProviderConfig) -> dict[str, Any]:
    shown = asdict(row)
    for name in ("tenant_id", "api_key", "api_secret"):
        del shown[name]
    return shown | {"has_api_key": row.api_key is not None, "has_api_secret": row.api_secret is not None}


ENDPOINTS = [
    Endpoint("GET /v1/providers", "admin", list_providers, "List the tenant's own providers"),
    Endpoint(
        "POST /v1/providers",
        "admin",
        post_provider,
        "Add a provider; its secrets are never shown again",
        success=201,
        body=ProviderBody,
    ),
    Endpoint(
        "PATCH /v1/providers/{id}",
        "admin",
        patch_provider,
        "Change priority, rate, timeout or whether it is active",
        body=ProviderChange,
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
