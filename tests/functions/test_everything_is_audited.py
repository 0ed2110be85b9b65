"""Whatever changes something by HTTP leaves its audit row in the same transaction, or is in the register of what need not."""

from datetime import timedelta

import pytest

from tests.functions.operations import EVERY, Stage
from tests.world import TENANT
from tocsin.access.user_tokens import Person
from tocsin.http.door import Endpoint
from tocsin.people.issue_token import token_for

# What changes nothing that somebody configured, each with its reason.
UNAUDITED = {
    "POST /v1/intents": "the record is its own evidence, with producer, key and request",
    "POST /v1/intents/batch": "the same",
    "POST /v1/intents/wait": "the same",
    "POST /v1/events": "the event is its own evidence",
    "POST /v1/templates/{name}/preview": "shows what would be sent, and writes nothing",
    "POST /v1/templates/preview": "shows what would be sent, and writes nothing",
    "PATCH /v1/inbox/{id}": "a person's own reading, which configures nothing and is nobody else's business",
    "DELETE /v1/inbox/{id}": "the same",
    "POST /v1/inbox/read-all": "the same",
    "POST /v1/inbox/done-all": "the same",
    "POST /v1/inbox/seen": "the same",
}
CHANGING = [endpoint for endpoint in EVERY if not endpoint.route.startswith("GET ")]
# What somebody does for themselves with the token of their browser, or with a link.
PERSONAL = [endpoint for endpoint in CHANGING if endpoint.is_personal and endpoint.route not in UNAUDITED]


def test_the_register_names_only_what_there_is() -> None:
    assert set(UNAUDITED) <= {endpoint.route for endpoint in CHANGING}


@pytest.mark.parametrize("endpoint", CHANGING, ids=lambda endpoint: endpoint.route)
def test_a_change_by_http_leaves_an_audit_row_or_is_in_the_register(stage: Stage, endpoint: Endpoint) -> None:
    _make_something_to_change(stage, endpoint)
    ask = stage.ask(endpoint).with_headers(user_agent="a browser", tocsin_person="Zo%C3%AB%20Doe")
    mine = "SELECT count(*) FROM audit_logs WHERE tenant_id = %(tenant)s"  # what is done to another is in its log too
    before = stage.world.one(mine, tenant=TENANT)
    known = [row["id"] for row in stage.world.rows("SELECT id FROM audit_logs")]

    assert ask.send(stage.api).status < 400

    rows = stage.world.rows("SELECT * FROM audit_logs WHERE user_agent = 'a browser'")
    assert len(rows) == stage.world.one(mine, tenant=TENANT) - before
    assert bool(rows) == (endpoint.route not in UNAUDITED)
    for row in rows:
        assert row["actor"].startswith(("key:", "link:")), row
        assert row["ip_address"] is not None
        assert row["changes"].keys() & {"old", "new"}, row
    written = stage.world.rows("SELECT person FROM audit_logs WHERE id <> ALL(%(known)s::uuid[])", known=known)
    named = {"Zoë Doe" if endpoint.scope else None} if rows else set()
    assert {row["person"] for row in written} == named, "in every row of the call, in the log of another tenant too"


@pytest.mark.parametrize("endpoint", PERSONAL, ids=lambda endpoint: endpoint.route)
def test_what_a_person_does_for_themselves_is_told_of_them(stage: Stage, endpoint: Endpoint) -> None:
    _make_something_to_change(stage, endpoint)
    alice = stage.world.one("SELECT id FROM users WHERE external_id = 'alice'")
    token, _ = token_for(Person(TENANT, alice), timedelta(hours=1))

    ask = stage.ask(endpoint).with_headers(tocsin_person="Alice%20Doe")
    assert ask.send(stage.api, key=token, source_ip="192.0.2.77").status < 300

    (row,) = stage.world.rows("SELECT * FROM audit_logs ORDER BY seq DESC LIMIT 1")
    assert (row["actor"], row["user_id"], row["tenant_id"]) == (f"user:{alice}", alice, TENANT)
    assert str(row["ip_address"]) == "192.0.2.0/24", "the network, not the address"
    assert row["person"] is None, "the row outlives them, so whatever name they send is not kept"


def _make_something_to_change(stage: Stage, endpoint: Endpoint) -> None:
    """Forgetting a wish that nobody had is no change."""
    for made in EVERY:
        if endpoint.route.startswith("DELETE /v1/inbox/") and made.route == endpoint.route.replace("DELETE", "PUT"):
            assert stage.ask(made).send(stage.api).status == 200
