"""The post office's back door: faults, events, SES's standing and the ledger over HTTP, for whoever is in another process."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from devstack.post_office.letters import Reply
from devstack.post_office.ses_standing import Standing

if TYPE_CHECKING:
    from devstack.post_office.office import PostOffice


def answer(office: "PostOffice", method: str, path: str, body: bytes) -> Reply:
    try:
        content = json.loads(body) if body else {}
        found = _act(office, method, path, content)
    except (ValueError, TypeError) as mistake:
        return _json(400, {"error": str(mistake)})
    return _json(404, {"error": f"nothing at {method} {path}"}) if found is None else _json(200, found)


def _act(office: "PostOffice", method: str, path: str, content: dict[str, Any]) -> dict[str, Any] | None:
    match method, path:
        case "PUT", "/_faults":
            office.fail(**content)
        case "DELETE", "/_faults":
            office.heal()
        case "PUT", "/_events":
            office.events.steer(content.get("mode", ""))
        case "PUT", "/_ses":
            office.ses = office.ses.changed(content)
        case "DELETE", "/_ses":
            office.ses = Standing()
        case "DELETE", "/_ledger":
            office.forget()
        case "GET", "/_ledger" | "/_faults" | "/_events" | "/_ses":
            pass
        case _:
            return None
    return _shown(office, path)


def _shown(office: "PostOffice", path: str) -> dict[str, Any]:
    match path:
        case "/_faults":
            return {"data": office.faults.listed()}
        case "/_events":
            return {"mode": office.events.mode, "data": office.events.told()}
        case "/_ses":
            return asdict(office.ses)
        case _:
            return {"data": office.ledger()}


def _json(status: int, content: dict[str, Any]) -> Reply:
    return Reply(status, json.dumps(content).encode(), "application/json")
