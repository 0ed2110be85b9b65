"""An intent with Liquid in it: what is no Liquid must already fit, and what is must be readable."""

from typing import Any

import pytest

from tocsin.triggers.intent_templates import faults_of

PLAIN: dict[str, Any] = {"type": "t", "audience": {"kind": "users", "user_ids": ["alice"]}, "payload": {"title": "T"}}
KEY = "{{ event.key }}"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"audience": {"kind": "users", "user_ids": [KEY, "bob"]}},
        {"audience": {"kind": "address", "email": "{{ event.value.email }}"}},
        {"audience": {"kind": "{{ event.value.kind }}"}},
        {"type": "stock.{{ event.op }}", "priority": "{% if event.op == 'delete' %}high{% else %}low{% endif %}"},
        {"channels": ["{{ event.value.channel }}"], "send_at": "{{ event.value.at }}", "template": KEY},
        {"thread": {"kind": "order", "id": KEY}, "payload": {"deep": [{"er": "{{ event.value.a | upcase }}"}], "n": 7}},
        {"payload": {"url": "{{ event.value.url }}"}},
        {"retry": {"max_attempts": 2}},
    ],
)
def test_what_can_become_an_intent_has_no_fault(changes: dict[str, Any]) -> None:
    assert faults_of(PLAIN | changes) == []


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"type": ""}, "/type"),
        ({"priority": "urgent", "type": KEY}, "/priority"),
        ({"channels": [KEY, "pigeon"]}, "/channels/1"),
        ({"audience": {"kind": "nobody", "a": KEY}}, "/audience/kind"),
        ({"audience": {"kind": "users", "user_ids": []}, "type": KEY}, "/audience/user_ids"),
        ({"audience": {"kind": "tenant", "users": [KEY]}}, "/audience/users"),
        ({"audience": {"kind": "address", "email": "nobody"}, "type": KEY}, "/audience/email"),
        ({"payload": {"title": "{{ event.key"}}, "/payload/title"),
        ({"payload": {"a/b": ["{% include 'x' %}"]}}, "/payload/a~1b/0"),
        ({"payload": {"x": "{{ event.value | evaluate }}"}}, "/payload/x"),
        ({"payload": {"x": "{% for n in (1..99999999) %}{% endfor %}"}}, "/payload/x"),
        ({"type": "{{ " + "a" * 600 + " }}"}, "/type"),
        ({"nonsense": KEY}, "/nonsense"),
        ({"idempotency_key": KEY}, "/idempotency_key"),
        ({"retry": {"max_attempts": 99}, "type": KEY}, "/retry/max_attempts"),
    ],
)
def test_what_cannot_is_told_with_its_place(changes: dict[str, Any], pointer: str) -> None:
    assert [place for place, _ in faults_of(PLAIN | changes)] == [pointer]


@pytest.mark.parametrize("name", ["type", "audience", "payload"])
def test_what_every_intent_has_cannot_be_left_out(name: str) -> None:
    liquid = {other: value for other, value in (PLAIN | {"template": KEY}).items() if other != name}

    assert faults_of(liquid) == [(f"/{name}", "is required")]


@pytest.mark.parametrize("intent", [None, [], "x", 7])
def test_it_is_an_object(intent: Any) -> None:
    assert faults_of(intent) == [("", "must be an object")]
