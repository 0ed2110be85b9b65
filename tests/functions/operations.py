"""For each operation of the API a request that succeeds, on a stage where it finds what it needs."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest

from tests.content import add_suppression
from tests.events import TYPE, happen
from tests.functions.doors import ENDPOINTS, Answer, Api, intent
from tests.functions.readers import arrive
from tests.letters import bury_delivery
from tests.operators import abandon, close_lane, keep_malformed
from tests.providers import add_provider, make_data_key
from tests.webhooks import add_hook
from tests.world import TENANT, World
from tocsin.feedback.unsubscribe_tokens import PreferencesSubject, Subject, address_hash, sign, sign_preferences
from tocsin.foundation import aws, secrets, settings
from tocsin.http.door import Endpoint
from tocsin.intake.cloud_events import STRUCTURED

EVERY = [endpoint for endpoints in ENDPOINTS.values() for endpoint in endpoints]
SECRET = b"a secret of the installation"


@dataclass(frozen=True)
class Ask:
    """A request. What stands in `path` is written as a client would; `raw` values go out as they are."""

    endpoint: Endpoint
    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw_path: dict[str, str] = field(default_factory=dict)
    raw_query: str = ""

    def with_headers(self, **headers: str) -> "Ask":
        return replace(self, headers=self.headers | {name.replace("_", "-"): value for name, value in headers.items()})

    def send(self, api: Api, **options: Any) -> Answer:
        method, path = self.endpoint.route.split(" ", 1)
        for name, value in self.path.items():
            path = path.replace(f"{{{name}}}", self.raw_path.get(name, quote(value, safe="")))
        query = "&".join([*(f"{name}={quote(value, safe='')}" for name, value in self.query.items()), self.raw_query])
        return api.call(method, path, self.body, headers=self.headers, query=query.strip("&"), **options)


class Stage:
    """A tenant with one of everything; `ask` makes anew what an operation uses up."""

    def __init__(self, world: World, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world, self.api = world, api
        made = aws.client("secretsmanager").create_secret(Name="unsubscribe", SecretString=SECRET.decode())
        monkeypatch.setenv("UNSUBSCRIBE_SECRET_ARN", made["ARN"])
        monkeypatch.setenv("PUBLIC_URL", "https://notify.example.com")
        make_data_key(monkeypatch)
        settings.settings.cache_clear()
        secrets.forget()
        world.add_user()
        for name, body in {"users/bob": {}, "notification-types/note": {}, "event-routing/note": ROUTING}.items():
            assert api.put(f"/v1/{name}", body).status in (200, 201)

    def ask(self, endpoint: Endpoint) -> Ask:
        told = VALID[endpoint.route](self) if endpoint.route in VALID else {}
        whose = {"user_id": "alice"} if endpoint.is_personal else {}
        return Ask(endpoint, **(told | {"query": whose | told.get("query", {})}))

    def row(self) -> str:
        arrive(self.world, str(uuid4()))
        return str(self.world.one("SELECT id FROM notifications ORDER BY created_at DESC LIMIT 1"))

    def sent(self) -> str:
        return str(self.api.send(intent(send_at="2027-01-01T00:00:00Z")).json["notification_id"])

    def ended(self) -> str:
        """The key of an intent whose outcome is known, so that nobody has to wait for it."""
        key = str(uuid4())
        assert self.api.send(intent(), idempotency_key=key).status == 202
        self.world.dispatch()
        return key

    def delivered(self) -> dict[str, str]:
        """Where the newest message is found that was sent."""
        self.ended()
        (route,) = self.world.rows(
            "SELECT notification_id::text AS id, route_id FROM routes ORDER BY accepted_at DESC, notification_id DESC LIMIT 1"
        )
        return route

    def template(self) -> str:
        name = f"template-{uuid4()}"
        assert self.api.post("/v1/templates", TEMPLATE | {"name": name}).status == 201
        return name

    def layout(self) -> str:
        name = f"layout-{uuid4()}"
        assert self.api.post("/v1/layouts", LAYOUT | {"name": name}).status == 201
        return name

    def key(self) -> str:
        return str(self.api.post("/v1/api-keys", KEY).json["id"])

    def preferences_token(self) -> str:
        """Opens alice's preferences."""
        user_id = self.world.one("SELECT id FROM users WHERE external_id = 'alice'")
        return sign_preferences(PreferencesSubject(TENANT, user_id), SECRET)

    def device(self) -> str:
        token = str(uuid4())
        assert self.api.put(f"/v1/users/alice/devices/{token}", DEVICE).status == 200
        return token

    def watched(self) -> str:
        scope = str(uuid4())
        assert self.api.put(f"/v1/users/alice/watches/{scope}", {"level": "all"}).status == 200
        return scope

    def routed(self) -> str:
        event_type = str(uuid4())
        assert self.api.put(f"/v1/event-routing/{event_type}", ROUTING).status == 200
        return event_type

    def hook(self) -> str:
        return str(add_hook(self.world, "https://hooks.example.com").id)

    def told(self) -> str:
        return str(self.api.post(f"/v1/webhooks/{self.hook()}/test").json["id"])

    def incident(self) -> str:
        return str(self.api.post("/v1/system-events", INCIDENT | {"subject": str(uuid4())}).json["id"])

    def lane(self) -> str:
        return close_lane(self.world, f"webhook:{uuid4()}")

    def malformed(self) -> str:
        return keep_malformed(self.world, intent(channels=["pigeon"]))

    def abandoned(self) -> str:
        return str(abandon(self.world))

    def job(self) -> str:
        return str(self.api.post("/v1/dead-letters/replay", {"filter": {"type": "nothing"}}).json["id"])

    def kind(self) -> str:
        name = str(uuid4())
        assert self.api.put(f"/v1/notification-types/{name}", {}).status == 200
        return name

    def kept(self) -> dict[str, str]:
        place = {"collection": "orders", "key": str(uuid4())}
        assert self.api.put(f"/v1/kv/orders/{place['key']}", {"state": "new"}).status == 201
        return place

    def person(self) -> str:
        name = str(uuid4())
        assert self.api.put(f"/v1/users/{name}", {}).status == 201
        return name

    def receipt(self) -> str:
        return str(self.api.post(f"/v1/users/{self.person()}/erase").json["id"])

    def tenant(self) -> str:
        return str(self.api.post("/v1/tenants", {"name": "Shop"}).json["id"])

    def suspended_tenant(self) -> str:
        tenant = self.tenant()
        assert self.api.post(f"/v1/tenants/{tenant}/suspend", {"reason": "unpaid"}).status == 200
        return tenant

    def trigger(self, body: dict[str, Any] | None = None) -> str:
        return str(self.api.post("/v1/triggers", body or TRIGGER).json["id"])


KEY = {"name": "k", "producer": "p", "scopes": ["send"]}
DEVICE = {"platform": "fcm"}
ROUTING = {"rules": {"mention": ["in_app"]}}
TRIGGER = {"kind": "kv", "collection_glob": "orders", "handler": {"kind": "intent", "intent": intent()}}
CALLING = TRIGGER | {"handler": {"kind": "webhook", "url": "https://hooks.example.com/orders"}}
LAYOUT = {"kind": "layout", "name": "l", "body": "<main>{{ content }}</main>"}
TEMPLATE = {"name": "t", "channel": "email", "subject": "Hi", "body": "<p>Hi</p>"}
INCIDENT = {"event_type": "incident_opened", "severity": "low", "description": "Something is odd."}
WEBHOOK = {"url": "https://hooks.example.com", "events": ["notification.published"]}
THREAD = {"kind": "order", "id": "A-17"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
SWITCH_OFF = "channels.shown=email&channels.was=email"  # the box of the emails was ticked, and is not any more
TOKEN = sign(Subject(TENANT, address_hash(TENANT, "email", "alice@example.com"), "news"), SECRET)

Told = dict[str, Any]
VALID: dict[str, Callable[[Stage], Told]] = {
    "POST /v1/intents": lambda stage: {"body": intent(), "headers": {"idempotency-key": str(uuid4())}},
    "POST /v1/intents/wait": lambda stage: {"body": intent(), "headers": {"idempotency-key": stage.ended(), "prefer": "wait=1"}},
    "POST /v1/intents/batch": lambda stage: {"body": {"intents": [intent(idempotency_key=str(uuid4()))]}},
    "POST /v1/events": lambda stage: {
        "body": {"specversion": "1.0", "id": str(uuid4()), "source": "/s", "type": TYPE, "data": {"title": "T"}},
        "headers": {"content-type": STRUCTURED},
    },
    "POST /v1/notifications/{id}/cancel": lambda stage: {"path": {"id": stage.sent()}},
    "GET /v1/notifications/{id}": lambda stage: {"path": {"id": stage.sent()}},
    "GET /v1/notifications/{id}/routes/{route_id}/message": lambda stage: {"path": stage.delivered()},
    "GET /v1/search": lambda stage: {"query": {"q": "alice"}},
    "GET /v1/events/{id}": lambda stage: {"path": {"id": str(happen(stage.world))}},
    "PATCH /v1/inbox/{id}": lambda stage: {"path": {"id": stage.row()}, "body": {"read": True}},
    "DELETE /v1/inbox/{id}": lambda stage: {"path": {"id": stage.row()}},
    "POST /v1/inbox/read-all": lambda stage: {"body": {}},
    "POST /v1/inbox/done-all": lambda stage: {"body": {"status": "read"}},
    "POST /v1/inbox/seen": lambda stage: {"body": {}},
    "GET /v1/inbox/live": lambda stage: {"query": {"wait": "0"}},
    "GET /v1/inbox/threads/{kind}/{id}": lambda stage: {"path": THREAD},
    "PUT /v1/inbox/threads/{kind}/{id}": lambda stage: {"path": THREAD, "body": {"subscribed": True}},
    "DELETE /v1/inbox/threads/{kind}/{id}": lambda stage: {"path": THREAD},
    "GET /v1/inbox/preferences/{channel}": lambda stage: {"path": {"channel": "email"}},
    "PUT /v1/inbox/preferences/{channel}": lambda stage: {"path": {"channel": "email"}, "body": {"enabled": True}},
    "DELETE /v1/inbox/preferences/{channel}": lambda stage: {"path": {"channel": "email"}},
    "GET /inbox/{asset}": lambda stage: {"path": {"asset": "demo"}},
    "GET /console/{asset}": lambda stage: {"path": {"asset": "demo.json"}},
    "GET /console/{version}/{asset}": lambda stage: {"path": {"version": "any", "asset": "app.js"}},
    "GET /u/{token}": lambda stage: {"path": {"token": TOKEN}},
    "POST /u/{token}": lambda stage: {"path": {"token": TOKEN}},
    "GET /p/{token}": lambda stage: {"path": {"token": stage.preferences_token()}},
    "POST /p/{token}": lambda stage: {"path": {"token": stage.preferences_token()}, "body": SWITCH_OFF, "headers": FORM},
    "PUT /v1/users/{id}": lambda stage: {"path": {"id": "bob"}, "body": {"locale": "pt"}},
    "GET /v1/users/{id}": lambda stage: {"path": {"id": "alice"}},
    "GET /v1/users/{id}/devices": lambda stage: {"path": {"id": "alice"}},
    "PUT /v1/users/{id}/devices/{token}": lambda stage: {"path": {"id": "alice", "token": "t"}, "body": DEVICE},
    "DELETE /v1/users/{id}/devices/{token}": lambda stage: {"path": {"id": "alice", "token": stage.device()}},
    "GET /v1/users/{id}/watches": lambda stage: {"path": {"id": "alice"}},
    "PUT /v1/users/{id}/watches/{scope}": lambda stage: {"path": {"id": "alice", "scope": "s"}, "body": {"level": "all"}},
    "DELETE /v1/users/{id}/watches/{scope}": lambda stage: {"path": {"id": "alice", "scope": stage.watched()}},
    "PATCH /v1/users/{id}": lambda stage: {"path": {"id": "bob"}, "body": {"locale": "pt"}},
    "POST /v1/users/batch": lambda stage: {"body": {"users": [{"id": str(uuid4())}]}},
    "DELETE /v1/users/{id}": lambda stage: {"path": {"id": stage.person()}},
    "POST /v1/users/{id}/erase": lambda stage: {"path": {"id": stage.person()}},
    "GET /v1/erasures/{id}": lambda stage: {"path": {"id": stage.receipt()}},
    "POST /v1/tenants": lambda stage: {"body": {"name": "Shop"}},
    "GET /v1/tenants/{id}": lambda stage: {"path": {"id": stage.tenant()}},
    "PATCH /v1/tenants/{id}": lambda stage: {"path": {"id": stage.tenant()}, "body": {"name": "Store"}},
    "POST /v1/tenants/{id}/suspend": lambda stage: {"path": {"id": stage.tenant()}, "body": {"reason": "unpaid"}},
    "POST /v1/tenants/{id}/resume": lambda stage: {"path": {"id": stage.suspended_tenant()}},
    "DELETE /v1/tenants/{id}": lambda stage: {"path": {"id": stage.tenant()}, "body": {"confirm": "Shop"}},
    "POST /v1/users/{id}/tokens": lambda stage: {"path": {"id": "alice"}, "body": {}},
    "POST /v1/api-keys": lambda stage: {"body": KEY},
    "GET /v1/api-keys/{id}": lambda stage: {"path": {"id": stage.key()}},
    "POST /v1/api-keys/{id}/rotate": lambda stage: {"path": {"id": stage.key()}, "body": {}},
    "POST /v1/api-keys/{id}/revoke": lambda stage: {"path": {"id": stage.key()}},
    "POST /v1/templates": lambda stage: {"body": TEMPLATE},
    "GET /v1/templates/{name}": lambda stage: {"path": {"name": stage.template()}},
    "DELETE /v1/templates/{name}": lambda stage: {"path": {"name": stage.template()}},
    "POST /v1/layouts": lambda stage: {"body": LAYOUT},
    "GET /v1/layouts/{name}": lambda stage: {"path": {"name": stage.layout()}},
    "DELETE /v1/layouts/{name}": lambda stage: {"path": {"name": stage.layout()}},
    "POST /v1/templates/{name}/preview": lambda stage: {"path": {"name": stage.template()}, "body": {"channel": "email"}},
    "POST /v1/templates/preview": lambda stage: {"body": {one: TEMPLATE[one] for one in TEMPLATE if one != "name"}},
    "PUT /v1/notification-types/{name}": lambda stage: {"path": {"name": "note"}, "body": {}},
    "GET /v1/notification-types/{name}": lambda stage: {"path": {"name": "note"}},
    "DELETE /v1/notification-types/{name}": lambda stage: {"path": {"name": stage.kind()}},
    "GET /v1/event-routing/{event_type}": lambda stage: {"path": {"event_type": "note"}},
    "PUT /v1/event-routing/{event_type}": lambda stage: {"path": {"event_type": "note"}, "body": ROUTING},
    "DELETE /v1/event-routing/{event_type}": lambda stage: {"path": {"event_type": stage.routed()}},
    "PUT /v1/brand": lambda stage: {"body": {"name": "Example Shop", "color": "#2456a6"}},
    "POST /v1/suppressions": lambda stage: {"body": {"channel": "email", "address": "nomore@example.com"}},
    "DELETE /v1/suppressions/{id}": lambda stage: {"path": {"id": str(add_suppression(stage.world, f"{uuid4()}@example.com"))}},
    "POST /v1/providers": lambda stage: {
        "body": {"provider_name": "twilio", "channel": "sms", "api_key": "k", "api_secret": "s", "config": {"from": "Shop"}}
    },
    "PATCH /v1/providers/{id}": lambda stage: {"path": {"id": str(add_provider(stage.world).id)}, "body": {"priority": 1}},
    "DELETE /v1/providers/{id}": lambda stage: {"path": {"id": str(add_provider(stage.world).id)}},
    "PUT /v1/kv/{collection}/{key}": lambda stage: {"path": {"collection": "orders", "key": "A-17"}, "body": {"state": "new"}},
    "GET /v1/kv/{collection}/{key}": lambda stage: {"path": stage.kept()},
    "DELETE /v1/kv/{collection}/{key}": lambda stage: {"path": stage.kept()},
    "GET /v1/kv/{collection}": lambda stage: {"path": {"collection": stage.kept()["collection"]}},
    "POST /v1/triggers": lambda stage: {"body": TRIGGER},
    "GET /v1/triggers/{id}": lambda stage: {"path": {"id": stage.trigger()}},
    "PATCH /v1/triggers/{id}": lambda stage: {"path": {"id": stage.trigger()}, "body": {"enabled": False}},
    "DELETE /v1/triggers/{id}": lambda stage: {"path": {"id": stage.trigger()}},
    "POST /v1/triggers/{id}/rotate-secret": lambda stage: {"path": {"id": stage.trigger(CALLING)}},
    "POST /v1/webhooks": lambda stage: {"body": WEBHOOK},
    "GET /v1/webhooks/{id}": lambda stage: {"path": {"id": stage.hook()}},
    "PATCH /v1/webhooks/{id}": lambda stage: {"path": {"id": stage.hook()}, "body": {"description": "d"}},
    "DELETE /v1/webhooks/{id}": lambda stage: {"path": {"id": stage.hook()}},
    "POST /v1/webhooks/{id}/rotate-secret": lambda stage: {"path": {"id": stage.hook()}},
    "POST /v1/webhooks/{id}/test": lambda stage: {"path": {"id": stage.hook()}},
    "GET /v1/webhooks/{id}/deliveries": lambda stage: {"path": {"id": stage.hook()}},
    "GET /v1/dead-letters/{id}": lambda stage: {"path": {"id": str(bury_delivery(stage.world))}},
    "POST /v1/dead-letters/{id}/replay": lambda stage: {"path": {"id": str(bury_delivery(stage.world))}, "body": {}},
    "POST /v1/dead-letters/{id}/resolve": lambda stage: {
        "path": {"id": str(bury_delivery(stage.world))},
        "body": {"resolution": "ignored", "reason": "seen to"},
    },
    "POST /v1/dead-letters/replay": lambda stage: {"body": {"filter": {}}},
    "GET /v1/jobs/{id}": lambda stage: {"path": {"id": stage.job()}},
    "POST /v1/jobs/{id}/cancel": lambda stage: {"path": {"id": stage.job()}},
    "GET /v1/email-log": lambda stage: {"query": {"user_id": "alice"}},
    "POST /v1/webhooks/deliveries/{id}/redeliver": lambda stage: {"path": {"id": stage.told()}},
    "GET /v1/abandoned-executions/{id}": lambda stage: {"path": {"id": stage.abandoned()}},
    "POST /v1/lanes/{id}/open": lambda stage: {"path": {"id": stage.lane()}, "body": {"reason": "repaired"}},
    "POST /v1/system-events": lambda stage: {"body": INCIDENT | {"subject": str(uuid4())}},
    "GET /v1/system-events/{id}": lambda stage: {"path": {"id": stage.incident()}},
    "POST /v1/system-events/{id}/resolve": lambda stage: {"path": {"id": stage.incident()}, "body": {"reason": "over"}},
    "GET /v1/malformed-intents/{id}": lambda stage: {"path": {"id": stage.malformed()}},
    "POST /v1/malformed-intents/{id}/accept": lambda stage: {"path": {"id": stage.malformed()}, "body": intent()},
    "POST /v1/malformed-intents/{id}/resolve": lambda stage: {"path": {"id": stage.malformed()}, "body": {"reason": "spam"}},
}
