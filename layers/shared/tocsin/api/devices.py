"""Devices: where a user is reached by push."""

from dataclasses import asdict
from typing import Literal

from tocsin.api.users import external_id_of, named_user
from tocsin.foundation.fields import Closed
from tocsin.http import problems
from tocsin.http.door import Call, Endpoint, Response
from tocsin.people import devices


class DeviceBody(Closed):
    platform: Literal["apns", "fcm"]


def put_device(call: Call) -> Response:
    body: DeviceBody = call.request.parsed(DeviceBody)
    external_id, token = external_id_of(call), _device_token(call)
    with named_user():
        device = devices.register(call.conn, call.actor, external_id, platform=body.platform, token=token)
    return Response(200, asdict(device))


def list_devices(call: Call) -> Response:
    with named_user():
        found = devices.list_of(call.conn, call.tenant_id, external_id_of(call))
    return Response(200, {"data": [asdict(device) for device in found], "next_cursor": None})


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


ENDPOINTS = [
    Endpoint("GET /v1/users/{id}/devices", "manage", list_devices, "List devices", answers={404: "No such user"}),
    Endpoint(
        "PUT /v1/users/{id}/devices/{token}",
        "manage",
        put_device,
        "Register a device for push",
        body=DeviceBody,
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
