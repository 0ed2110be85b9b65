"""Devices: where a user is reached by push."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.api.users import external_id_of, named_user
from tocsin.foundation.fields import Closed
from tocsin.http import paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.people import devices
from tocsin.store import devices as rows


class DeviceBody(Closed):
    platform: Literal["apns", "fcm"]


class ShownDevice(TypedDict):
    """A device of a user, for push."""

    id: UUID
    platform: Annotated[str, one_of("apns", "fcm")]
    token: str
    enabled: bool
    disabled_reason: str | None
    last_seen_at: datetime
    created_at: datetime


def put_device(call: Call) -> Response:
    body: DeviceBody = call.request.parsed(DeviceBody)
    external_id, token = external_id_of(call), _device_token(call)
    with named_user():
        device = devices.register(call.conn, call.actor, external_id, platform=body.platform, token=token)
    return Response(200, _shown(device))


def list_devices(call: Call) -> Response:
    with named_user():
        found = devices.list_of(call.conn, call.tenant_id, external_id_of(call))
    return paging.whole([_shown(device) for device in found])


def delete_device(call: Call) -> Response:
    external_id, token = external_id_of(call), _device_token(call)
    with named_user():
        was_known = devices.forget(call.conn, call.actor, external_id, token)
    if not was_known:
        raise problems.not_found("device")
    return Response(204)


def _device_token(call: Call) -> str:
    token = call.request.path_parameters.get("token", "")
    if not 1 <= len(token) <= 1024 or not token.isascii() or not token.isprintable():
        raise problems.invalid_path("token", "must have 1 to 1024 printable ASCII characters")
    return token


def _shown(device: rows.Device) -> ShownDevice:
    return {
        "id": device.id,
        "platform": device.platform,
        "token": device.token,
        "enabled": device.enabled,
        "disabled_reason": device.disabled_reason,
        "last_seen_at": device.last_seen_at,
        "created_at": device.created_at,
    }


ENDPOINTS = [
    Endpoint(
        "GET /v1/users/{id}/devices",
        "manage",
        list_devices,
        "List devices",
        answers={404: "No such user"},
        answer=PageOf[ShownDevice],
    ),
    Endpoint(
        "PUT /v1/users/{id}/devices/{token}",
        "manage",
        put_device,
        "Register a device for push",
        body=DeviceBody,
        answer=ShownDevice,
        answers={404: "No such user"},
    ),
    Endpoint(
        "DELETE /v1/users/{id}/devices/{token}",
        "manage",
        delete_device,
        "Forget a device",
        success=204,
        answers={404: "No such user or device"},
    ),
]
