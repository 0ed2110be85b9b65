"""A whole stack whose template lacks a permission: the function meets AccessDenied, as it would in AWS, and says so."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from devstack.gateway import Gateway
from devstack.stack import Stack
from devstack.state import State
from tests.devstack.planted import planted, without
from tests.e2e.client import Client, wait_for


def test_without_the_permission_to_send_the_lane_stops_and_the_mail_waits(tmp_path: Path) -> None:
    root = planted(tmp_path, without("DispatchFunction", "ses:SendEmail")).parent
    state, gateway = State(tmp_path / "state"), Gateway(0)
    state.open()
    stack = Stack(root, state, parameters={}, say=lambda _: None)
    try:
        access = stack.start(gateway)
        client = Client(SimpleNamespace(dev=access), access["api_key"])  # type: ignore[arg-type]

        sent = client.send(
            type="note",
            audience={"kind": "address", "email": "ada@example.com"},
            channels=["email"],
            payload={"title": "Hello"},
        )

        (lane,) = wait_for(lambda: lanes(client), lambda found: found != [])
        assert (lane["id"], lane["state"], lane["trouble"]) == ("ses:email", "stopped", "configuration")
        assert client.mails_to("ada@example.com") == []
        assert client.notification(sent)["routes"][0]["status"] == "pending"
        assert "DispatchRole/DispatchFunction is not authorized to perform: ses:SendEmail" in log(state, "post_office")
    finally:
        stack.stop()
        gateway.close()
        state.close()


def lanes(client: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.call("GET", "/v1/lanes").body["data"]
    return found


def log(state: State, name: str) -> str:
    return (state.logs / f"{name}.log").read_text()
