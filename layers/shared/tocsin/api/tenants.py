"""Tenants: who shares this installation. For administrators of its first tenant alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, cast
from uuid import UUID

from pydantic import Field, StrictStr, ValidationError
from typing_extensions import TypedDict

from tocsin.access import tenants
from tocsin.access.tenant_settings import TenantSettings
from tocsin.access.tenants import BeingDeleted, FirstTenant, NotConfirmed
from tocsin.api.erasures import ErasureReceipt, shown_count, shown_receipt
from tocsin.api.words import AtLeast
from tocsin.foundation import merge_patch
from tocsin.foundation.field_errors import errors_of
from tocsin.foundation.fields import Closed, Reason
from tocsin.foundation.ids import as_uuid
from tocsin.foundation.settings import settings
from tocsin.http import filters, paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response, parse
from tocsin.http.problems import Problem
from tocsin.store import tenants as rows

TenantName = Annotated[StrictStr, Field(min_length=1, max_length=200)]
STATUSES = ("active", "suspended", "deleting")


class TenantBody(Closed):
    name: TenantName
    settings: TenantSettings = TenantSettings()


class TenantPatch(Closed):
    """As a JSON Merge Patch: null removes a setting."""

    name: TenantName | None = None
    settings: dict[str, Any] | None = None


class SuspendBody(Closed):
    reason: Reason


class DeleteBody(Closed):
    """The name of the tenant, so that nobody deletes another one than they mean."""

    confirm: StrictStr


class ChosenSettings(TypedDict):
    """What a tenant decides for itself; what is not said is as the installation has it."""

    retention: NotRequired[dict[str, int]]
    caps: NotRequired[dict[str, int]]


class ShownTenant(TypedDict):
    """Who shares this installation."""

    id: UUID
    name: str
    status: Annotated[str, one_of(*STATUSES)]
    settings: ChosenSettings
    suspended_at: datetime | None
    suspended_reason: str
    deletion_requested_at: datetime | None
    created_at: datetime
    updated_at: datetime


class FirstKey(TypedDict):
    """A tenant's first key with its secret, which is shown this once."""

    id: UUID
    key: str
    scopes: list[str]


class NewTenant(ShownTenant):
    """A tenant that was just made, with its first key."""

    first_key: FirstKey


class TenantDeletionDryRun(TypedDict):
    """What would be deleted, by table."""

    dry_run: Literal[True]
    would_delete: dict[str, int | AtLeast]


def post_tenant(call: Call) -> Response:
    _only_the_installation(call)
    body: TenantBody = call.request.parsed(TenantBody)
    made = tenants.make(call.conn, call.actor, name=body.name, settings=body.settings.model_dump(exclude_none=True))
    key: FirstKey = {"id": made.first_key.key.id, "key": made.first_key.plain, "scopes": made.first_key.key.scopes}
    shown: NewTenant = {**_shown(made.tenant), "first_key": key}
    return Response(201, shown)


def list_tenants(call: Call) -> Response:
    _only_the_installation(call)
    limit = paging.limit_of(call.request)
    status = filters.choice_of(call.request, "status", STATUSES)
    found = tenants.list_page(
        call.conn,
        call.actor,
        name=call.request.query.get("name"),
        status=status,
        limit=limit + 1,
        after=paging.cursor_of(call.request),
    )
    return paging.page(found, limit, shown=_shown, place=lambda tenant: (tenant.created_at, tenant.id))


def get_tenant(call: Call) -> Response:
    return Response(200, _shown(_named(call)))


def patch_tenant(call: Call) -> Response:
    tenant = _named(call)
    wanted: TenantPatch = parse(TenantPatch, call.request.json(merge_patch.MEDIA_TYPE, "application/json"))
    changed = merge_patch.merged(tenant.settings, wanted.settings or {})
    try:
        TenantSettings.model_validate(changed)
    except ValidationError as error:
        wrong = [{**one, "pointer": f"/settings{one['pointer']}"} for one in errors_of(error)]
        raise problems.invalid_fields(wrong) from None
    with _refusals():
        after = tenants.change(call.conn, call.actor, tenant.id, name=wanted.name or tenant.name, settings=changed)
    return Response(200, _shown(_there(after)))


def suspend_tenant(call: Call) -> Response:
    _only_the_installation(call)
    body: SuspendBody = call.request.parsed(SuspendBody)
    with _refusals():
        return Response(200, _shown(_there(tenants.suspend(call.conn, call.actor, _id(call), body.reason))))


def resume_tenant(call: Call) -> Response:
    _only_the_installation(call)
    with _refusals():
        return Response(200, _shown(_there(tenants.resume(call.conn, call.actor, _id(call)))))


def delete_tenant(call: Call) -> Response:
    """`?dry_run=true` counts what would go and changes nothing."""
    _only_the_installation(call)
    dry_run = call.request.query.get("dry_run", "false")
    if dry_run not in ("true", "false"):
        raise problems.invalid_parameter("dry_run", "must be true or false")
    if dry_run == "true":
        counts = tenants.count(call.conn, _id(call))
        if counts is None:
            raise problems.not_found("tenant")
        most = tenants.MOST_COUNTED
        shown = {table: shown_count(min(found, most), is_cut=found > most) for table, found in counts.items()}
        dry: TenantDeletionDryRun = {"dry_run": True, "would_delete": shown}
        return Response(200, dry)
    if not call.request.body:
        raise problems.invalid_field("/confirm", "is required: the tenant's name confirms that it is to be deleted")
    body: DeleteBody = call.request.parsed(DeleteBody)
    with _refusals():
        receipt = tenants.delete(call.conn, call.actor, _id(call), confirm=body.confirm)
    if receipt is None:
        raise problems.not_found("tenant")
    return Response(202, shown_receipt(receipt))


def _only_the_installation(call: Call) -> None:
    if call.tenant_id != settings().first_tenant_id:
        raise Problem(
            403,
            "installation-only",
            "Tenants are the installation's matter",
            "This call needs a key with the scope `admin` of the installation's first tenant.",
        )


def _id(call: Call) -> UUID:
    tenant_id = as_uuid(call.request.path_parameters.get("id", ""))
    if tenant_id is None:
        raise problems.not_found("tenant")
    return tenant_id


def _named(call: Call) -> rows.Tenant:
    _only_the_installation(call)
    return _there(tenants.find(call.conn, _id(call)))


def _there(tenant: rows.Tenant | None) -> rows.Tenant:
    if tenant is None:
        raise problems.not_found("tenant")
    return tenant


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except FirstTenant:
        detail = "Its administrators would lock themselves out."
        raise Problem(409, "first-tenant", "The installation's own tenant stays as it is", detail) from None
    except BeingDeleted:
        raise Problem(409, "being-deleted", "The tenant is being deleted", "There is no way back.") from None
    except NotConfirmed:
        raise problems.invalid_field("/confirm", "is not the name of this tenant") from None


def _shown(tenant: rows.Tenant) -> ShownTenant:
    return {
        "id": tenant.id,
        "name": tenant.name,
        "status": tenant.status,
        "settings": cast(ChosenSettings, tenant.settings),
        "suspended_at": tenant.suspended_at,
        "suspended_reason": tenant.suspended_reason,
        "deletion_requested_at": tenant.deletion_requested_at,
        "created_at": tenant.created_at,
        "updated_at": tenant.updated_at,
    }


_DRY_RUN = {
    "name": "dry_run",
    "in": "query",
    "schema": {"type": "boolean", "default": False},
    "description": "count what would be deleted, and delete nothing",
}
_FILTERS: list[dict[str, Any]] = [
    {"name": "name", "in": "query", "schema": {"type": "string"}, "description": "a part of the name"},
    filters.choice("status", STATUSES),
]
_UNKNOWN = {404: "No such tenant"}

ENDPOINTS = [
    Endpoint(
        "GET /v1/tenants",
        "admin",
        list_tenants,
        "List tenants",
        parameters=_FILTERS + paging.PARAMETERS,
        answer=PageOf[ShownTenant],
    ),
    Endpoint(
        "POST /v1/tenants",
        "admin",
        post_tenant,
        "Make a tenant, with its first key",
        success=201,
        body=TenantBody,
        answer=NewTenant,
    ),
    Endpoint("GET /v1/tenants/{id}", "admin", get_tenant, "Show a tenant", answers=_UNKNOWN, answer=ShownTenant),
    Endpoint(
        "PATCH /v1/tenants/{id}",
        "admin",
        patch_tenant,
        "Change a tenant (JSON Merge Patch)",
        body=TenantPatch,
        other_media_types=(merge_patch.MEDIA_TYPE,),
        answer=ShownTenant,
        answers=_UNKNOWN | {409: "It is being deleted"},
    ),
    Endpoint(
        "POST /v1/tenants/{id}/suspend",
        "admin",
        suspend_tenant,
        "Suspend a tenant: nothing is accepted or sent, nothing is lost",
        body=SuspendBody,
        answer=ShownTenant,
        answers=_UNKNOWN | {409: "The first tenant, or one that is being deleted"},
    ),
    Endpoint(
        "POST /v1/tenants/{id}/resume",
        "admin",
        resume_tenant,
        "Resume a suspended tenant",
        answer=ShownTenant,
        answers=_UNKNOWN | {409: "It is being deleted"},
    ),
    Endpoint(
        "DELETE /v1/tenants/{id}",
        "admin",
        delete_tenant,
        "Delete a tenant with everything it has",
        success=202,
        body=DeleteBody,
        answer=ErasureReceipt,
        other_answers={200: TenantDeletionDryRun},
        body_is_optional=True,
        parameters=[_DRY_RUN],
        answers=_UNKNOWN | {200: "What would be deleted", 409: "The first tenant"},
    ),
]
