"""Calls that the command line makes and the API of this tree does not have yet, answered by the contract, from real data.

Each is asked only as long as the API has no such call: with the API's own, the same tests go through that, and this can go."""

import json
import re
from typing import Any
from uuid import UUID, uuid4

import httpx

from tests.functions.doors import Answer, Api
from tocsin.api import about


def answer(request: httpx.Request) -> httpx.Response | None:
    path, method = request.url.path, request.method
    for route, serve in _CALLS.items():
        verb, pattern = route.split(" ", 1)
        match = re.fullmatch(pattern, path)
        if match and verb == method and method not in about.methods_at(path):
            return serve(request, *match.groups())
    if re.fullmatch(r"/v1/users/[^/]+/erase", path) and request.content and not _knows_dry_runs():
        return _erase_dry(request) if b"dry_run" in request.content else None
    if path == "/v1/openapi.json" and not _knows_dry_runs():
        return _openapi()
    return None


def _api(request: httpx.Request) -> Api:
    return Api(request.headers.get("authorization", "").removeprefix("Bearer "))


def _json(body: Any, status: int = 200) -> httpx.Response:
    return httpx.Response(status, json=body)


def _passed(found: Answer) -> httpx.Response:
    return httpx.Response(found.status, content=found.text.encode())


def _me(request: httpx.Request) -> httpx.Response:
    api = _api(request)
    if not api.key or api.get("/v1/notifications").status == 401:
        return _json(
            {
                "type": "unauthorized",
                "title": "The API key is missing or not valid",
                "status": 401,
                "detail": "Send a valid key.",
            },
            401,
        )
    key = {
        "id": str(uuid4()),
        "name": "test",
        "producer": "shop",
        "mode": "live",
        "scopes": ["admin", "manage", "operate", "read", "send"],
    }
    tenant = {"id": str(UUID(int=1)), "name": "default", "is_installation": True, "is_suspended": False}
    return _json(
        {"key": key | {"expires_at": None, "created_at": None, "user_id": None}, "tenant": tenant, "person": None, "at": None}
    )


def _search(request: httpx.Request) -> httpx.Response:
    api, text = _api(request), request.url.params["q"]
    found: list[dict[str, Any]] = []
    for row in api.get("/v1/notifications").json["data"]:
        whole = api.get(f"/v1/notifications/{row['notification_id']}").json
        matches = {
            "notification_id": str(row["notification_id"]),
            "idempotency_key": whole["idempotency_key"],
        }
        by = [name for name, value in matches.items() if value == text]
        by += ["provider_message_id"] * any(route["provider_message_id"] == text for route in whole["routes"])
        if by:
            names = ("type", "status", "accepted_at")
            found.append(
                {"kind": "notification", "matched": by[0], "id": row["notification_id"]} | {name: row[name] for name in names}
            )
    for row in api.get("/v1/users", query={"query": text}).json.get("data", []):
        names = ("id", "email", "phone", "username")
        found.append({"kind": "user", "matched": "email" if "@" in text else "user_id"} | {name: row[name] for name in names})
    for row in api.get("/v1/dead-letters").json.get("data", []):
        if row["id"] == text:
            found.append({"kind": "dead_letter", "matched": "dead_letter_id", "id": row["id"]})
    return _json({"q": text, "data": found})


def _decisions(request: httpx.Request) -> httpx.Response:
    api, params = _api(request), request.url.params
    steps: list[dict[str, Any]] = []
    names = ("type", "channel", "user_id", "status", "producer")
    for row in api.get("/v1/notifications", query={name: params[name] for name in names if name in params}).json["data"]:
        whole = api.get(f"/v1/notifications/{row['notification_id']}").json
        routes = {route["route_id"]: route for route in whole["routes"]}
        for n, step in enumerate(whole["timeline"]):
            route = routes.get(step["route_id"], {})
            of_route = {"channel": route.get("channel"), "recipient": route.get("recipient")}
            head = {"id": f"{row['notification_id']}:{n}", "notification_id": row["notification_id"]}
            steps.append(head | {name: whole[name] for name in ("type", "producer", "mode")} | of_route | step)
    steps.sort(key=lambda step: str(step["at"]))
    kept = [step for step in steps if str(step["at"]) >= params.get("since", "")]
    return _json({"data": kept[:200], "next_since": params.get("since") or "2026-01-01T00:00:00.000000Z", "more": False})


def _message(request: httpx.Request, notification_id: str, route_id: str) -> httpx.Response:
    whole = _api(request).get(f"/v1/notifications/{notification_id}")
    route = next((one for one in whole.json.get("routes", []) if one["route_id"] == route_id), None)
    if route is None:
        return _json({"type": "not-found", "title": "Not found", "status": 404, "detail": "There is no such route."}, 404)
    payload = whole.json["payload"]
    words = {"subject": payload.get("title"), "html": None, "text": payload.get("message"), "template": None}
    sent = {
        "rendered_at": None,
        "sent_at": route["published_at"],
        "as_sent": route["status"] == "published",
        "note": "As it was sent.",
    }
    return _json({"channel": route["channel"], "recipient": route["recipient"]} | words | sent)


def _diagnostics(request: httpx.Request) -> httpx.Response:
    checks = [
        {"name": "database", "state": "ok", "detail": "Postgres answers.", "fix": None},
        {"name": "ses_account", "state": "unknown", "detail": "SES did not answer in time.", "fix": None},
    ]
    return _json({"at": "2026-11-17T10:00:00Z", "healthy": True, "checks": checks})


def _draft(request: httpx.Request) -> httpx.Response:
    """By a template that is made for it."""
    api, said = _api(request), json.loads(request.content)
    name = f"draft-{uuid4()}"
    payload = said.pop("payload", {})
    made = api.post("/v1/templates", {"name": name} | said)
    if made.status != 201:
        return _passed(made)
    shown = api.post(f"/v1/templates/{name}/preview", {"channel": said["channel"], "locale": said["locale"], "payload": payload})
    api.delete(f"/v1/templates/{name}")
    return _passed(shown)


def _knows_dry_runs() -> bool:
    (erase,) = [one for one in about.every_endpoint() if one.route == "POST /v1/users/{id}/erase"]
    return erase.body is not None


def _erase_dry(request: httpx.Request) -> httpx.Response:
    user = request.url.path.split("/")[3]
    found = _api(request).get(f"/v1/users/{user}")
    if found.status != 200:
        return _passed(found)
    return _json({"dry_run": True, "user_id": user, "would_erase": {"users": 1, "devices": {"count": 0, "at_least": False}}})


def _openapi() -> httpx.Response:
    described = Api().get("/v1/openapi.json").json
    body = {"content": {"application/json": {"schema": {"properties": {"dry_run": {"type": "boolean"}}}}}}
    described["paths"]["/v1/users/{id}/erase"]["post"]["requestBody"] = body
    return _json(described)


_CALLS = {
    "GET /v1/me": _me,
    "GET /v1/search": _search,
    "GET /v1/decisions": _decisions,
    r"GET /v1/notifications/([^/]+)/routes/([^/]+)/message": _message,
    "GET /v1/diagnostics": _diagnostics,
    "POST /v1/templates/preview": _draft,
}
