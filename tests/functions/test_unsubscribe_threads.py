"""One-click unsubscribe from a thread: mail about an event leads out of its thread, and nowhere else."""

import re
from uuid import UUID, uuid4

import pytest

from tests.functions.doors import Answer, Api
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.audience.fan_out import fan_out
from tocsin.feedback.unsubscribe_tokens import ThreadSubject, sign_thread
from tocsin.foundation import aws, secrets, settings

SECRET = "a secret of the installation"


@pytest.fixture(autouse=True)
def secret(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made = aws.client("secretsmanager").create_secret(Name="unsubscribe", SecretString=SECRET)
    monkeypatch.setenv("UNSUBSCRIBE_SECRET_ARN", made["ARN"])
    monkeypatch.setenv("PUBLIC_URL", "https://notify.example.com")
    settings.settings.cache_clear()
    secrets.forget()


def _happen(world: World, api: Api, thread_id: str = "1", **data: object) -> None:
    """An event on a thread that alice watches, told by email, and everything sent that follows from it."""
    api.put("/v1/event-routing/issue.*", {"rules": {"watching": ["email"], "mention": ["email"]}})
    api.put("/v1/users/alice/watches/repo:7", {"level": "all"})
    event = {
        "specversion": "1.0",
        "id": str(uuid4()),
        "source": "/repo",
        "type": "issue.commented",
        "data": {"scope": "repo:7", "thread": {"kind": "issue", "id": thread_id}, "title": "News"} | data,
    }
    assert api.call("POST", "/v1/events", event, headers={"content-type": "application/cloudevents+json"}).status == 202
    fan_out(world.worker, has_time=lambda: True)
    world.dispatch()


def _token_in(world: World) -> str:
    headers = world.email.accepted[-1].headers
    link = re.fullmatch(r"<https://notify\.example\.com/u/([\w-]+)>", headers["List-Unsubscribe"])
    assert link is not None
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    return link[1]


def _post(api: Api, token: str) -> Answer:
    form = {"content-type": "application/x-www-form-urlencoded"}
    return api.call("POST", f"/u/{token}", "List-Unsubscribe=One-Click", headers=form, key="", request_id="same")


def _threads(world: World) -> list[tuple[str, bool, str]]:
    rows = world.rows("SELECT thread_id, subscribed, reason FROM notification_threads ORDER BY thread_id")
    return [(row["thread_id"], row["subscribed"], row["reason"]) for row in rows]


def test_the_link_in_mail_about_an_event_mutes_its_thread_and_no_other(world: World, api: Api) -> None:
    world.add_user()
    _happen(world, api)

    answer = _post(api, _token_in(world))
    _happen(world, api)
    _happen(world, api, thread_id="2")

    assert answer.status == 200
    assert len(world.email.accepted) == 2
    assert _threads(world) == [("1", False, "manual")]
    assert world.count("suppressions") == 0


def test_a_mention_still_reaches_who_left_the_thread(world: World, api: Api) -> None:
    world.add_user()
    _happen(world, api)
    _post(api, _token_in(world))

    _happen(world, api, mentions=["alice"])

    assert [route["reason"][:8] for route in world.rows("SELECT reason FROM routes ORDER BY created_at")] == ["", "dampened", ""]


def test_a_link_for_a_user_that_is_gone_or_of_another_tenant_changes_nothing_and_answers_alike(world: World, api: Api) -> None:
    user_id = world.add_user()
    world.add_tenant()
    real = _post(api, sign_thread(ThreadSubject(TENANT, user_id, "issue", "1"), SECRET.encode()))

    gone = _post(api, sign_thread(ThreadSubject(TENANT, UUID(int=9), "issue", "1"), SECRET.encode()))
    foreign = _post(api, sign_thread(ThreadSubject(OTHER_TENANT, user_id, "issue", "1"), SECRET.encode()))
    forged = _post(api, sign_thread(ThreadSubject(TENANT, user_id, "issue", "2"), b"another secret"))

    assert (gone, foreign, forged) == (real, real, real)
    assert _threads(world) == [("1", False, "manual")]
