"""What a local stack sets by itself is what template.yaml would accept, and leads the providers' traffic home."""

import json
import re
from pathlib import Path
from typing import Any

from devstack import intrinsics, template
from devstack.local_parameters import local_parameters

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
GATEWAY, POST_OFFICE = "http://127.0.0.1:8080", "http://127.0.0.1:40001"


def _given() -> dict[str, str]:
    return local_parameters(database_port=40000, public_url=GATEWAY, post_office_url=POST_OFFICE)


def test_the_template_would_accept_every_value() -> None:
    declared = intrinsics.load(TEMPLATE)["Parameters"]

    assert {name for name, value in _given().items() if not _is_accepted(declared[name], value)} == set()


def _is_accepted(declared: dict[str, Any], value: str) -> bool:
    if declared["Type"] == "Number":
        return bool(declared["MinValue"] <= int(value) <= declared["MaxValue"])
    return bool(re.fullmatch(declared.get("AllowedPattern", ".*"), value)) and value in declared.get("AllowedValues", [value])


def test_webhooks_of_this_machine_and_of_the_internet_can_be_called() -> None:
    functions = template.read(TEMPLATE, _given(), {}).functions

    callers = [functions[f"{name}Function"].variables for name in ("Data", "Dispatch", "Webhooks", "Triggers")]
    assert {each["ALLOW_PRIVATE_DESTINATIONS"] for each in callers} == {"true"}
    assert functions["DataFunction"].variables["INTERNET_EGRESS"] == "true"


def test_two_hundred_producers_may_wait_at_once() -> None:
    assert template.read(TEMPLATE, _given(), {}).functions["WaitFunction"].reserved_concurrency == 200


def test_no_provider_and_no_unsubscribe_link_leads_off_this_machine() -> None:
    dispatch = template.read(TEMPLATE, _given(), {}).functions["DispatchFunction"].variables

    assert dispatch["PUBLIC_URL"] == GATEWAY
    assert set(json.loads(dispatch["PROVIDER_BASE_URLS"])) == {"sendgrid", "twilio", "fcm", "fcm_token"}
    assert all(url.startswith(POST_OFFICE) for url in json.loads(dispatch["PROVIDER_BASE_URLS"]).values())


def test_twice_as_many_may_wait_for_news_as_may_read() -> None:
    functions = template.read(TEMPLATE, _given(), {}).functions

    assert (functions["LiveFunction"].reserved_concurrency, functions["InboxApiFunction"].reserved_concurrency) == (8, 4)


def test_provider_events_lead_to_the_feedback_function() -> None:
    declared = template.read(TEMPLATE, _given(), {})

    consumers = {source.queue.rpartition(":")[2]: source.function for source in declared.queue_sources}
    fed = {each.endpoint.rpartition(":")[2] for each in declared.subscriptions if each.protocol == "sqs"}

    assert {consumers[queue] for queue in fed} == {"FeedbackFunction"}
