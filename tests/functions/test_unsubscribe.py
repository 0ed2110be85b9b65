"""One-click unsubscribe (RFC 8058): a link in mail that is not transactional; looking changes nothing, posting acts."""

import base64
import hashlib
import re
from contextlib import suppress
from uuid import UUID

import pytest

from tests.content import add_suppression, add_type
from tests.functions.doors import Answer, Api, intent
from tests.functions.test_problems import assert_problem
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.feedback.unsubscribe_tokens import Subject, ThreadSubject, address_hash, sign, sign_thread, verify
from tocsin.foundation import aws, secrets, settings

FORM = {"content-type": "application/x-www-form-urlencoded"}
ONE_CLICK = "List-Unsubscribe=One-Click"


@pytest.fixture(autouse=True)
def secret(world: World, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The installation's secret for such links, and where they lead."""
    made = aws.client("secretsmanager").create_secret(Name="unsubscribe", SecretString="a secret of the installation")
    monkeypatch.setenv("UNSUBSCRIBE_SECRET_ARN", made["ARN"])
    monkeypatch.setenv("PUBLIC_URL", "https://notify.example.com")
    settings.settings.cache_clear()
    secrets.forget()
    return b"a secret of the installation"


def _token(secret: bytes, email: str = "alice@example.com", *, tenant: UUID = TENANT, kind: str = "news") -> str:
    return sign(Subject(tenant, address_hash(tenant, "email", email), kind), secret)


def _post(api: Api, token: str) -> Answer:
    return api.call("POST", f"/u/{token}", ONE_CLICK, headers=FORM, key="", request_id="same")


def _path_in(world: World) -> str:
    """Where the link of the last email leads, without the host."""
    link = re.fullmatch(r"<https://notify\.example\.com(/u/[\w-]+)>", world.email.accepted[-1].headers["List-Unsubscribe"])
    assert link is not None
    return link[1]


def test_an_email_that_is_not_transactional_can_be_unsubscribed_from_with_one_click(world: World, api: Api) -> None:
    world.add_user(email="Alice@example.com")
    add_type(world, "news", transactional=False)
    api.send(intent(type="news"))
    world.dispatch()
    assert world.email.accepted[0].headers["List-Unsubscribe-Post"] == ONE_CLICK

    answer = _post(api, _path_in(world).removeprefix("/u/"))
    api.send(intent(type="news"))
    api.send(intent(type="order.shipped"))
    world.dispatch()

    assert (answer.status, len(world.email.accepted)) == (200, 2)
    assert sorted(route["reason"] for route in world.routes()) == ["", "", "suppressed: unsubscribe"]
    assert world.email.accepted[1].headers == {}


def test_a_users_mail_knows_whose_it_is_and_one_to_a_bare_address_does_not(world: World, api: Api, secret: bytes) -> None:
    user_id = world.add_user()
    add_type(world, "news", transactional=False)
    bare = {"kind": "address", "email": "somebody@example.com"}
    api.send(intent(type="news"))
    world.dispatch()
    to_user = verify(_path_in(world).removeprefix("/u/"), [secret])
    assert api.send(intent(type="news", audience=bare)).status == 202
    world.dispatch()
    to_address = verify(_path_in(world).removeprefix("/u/"), [secret])

    assert to_user == Subject(TENANT, address_hash(TENANT, "email", "alice@example.com"), "news", user_id)
    assert to_address == Subject(TENANT, address_hash(TENANT, "email", "somebody@example.com"), "news")


@pytest.mark.parametrize(
    ("channels", "meaning"),
    [(["email"], {"transactional": True}), (["email"], None), (["sms"], {"transactional": False})],
    ids=["transactional", "of no known type", "an SMS"],
)
def test_everything_else_has_no_such_headers(
    world: World, api: Api, channels: list[str], meaning: dict[str, bool] | None
) -> None:
    world.add_user(phone="+14155550100")
    if meaning:
        add_type(world, "news", **meaning)
    api.send(intent(type="news", channels=channels))
    world.dispatch()

    (message,) = [*world.email.accepted, *world.sms.accepted]
    assert message.headers == {}


def test_looking_at_the_page_changes_nothing_however_often(world: World, api: Api, secret: bytes) -> None:
    token = _token(secret)

    pages = [api.get(f"/u/{token}", key="") for _ in range(3)]

    assert {page.status for page in pages} == {200}
    assert '<form method="post"><input type="hidden" name="act"' in pages[0].text  # without an action: back to this very link
    assert world.count("suppressions") == 0


def test_posting_acts_once_and_may_be_repeated(world: World, api: Api, secret: bytes) -> None:
    answers = [_post(api, _token(secret)) for _ in range(3)]

    assert {answer.status for answer in answers} == {200}
    (row,) = world.rows("SELECT * FROM suppressions")
    assert (row["tenant_id"], row["channel"], row["notification_type"], row["reason"]) == (TENANT, "email", "news", "unsubscribe")
    assert (row["address"], row["expires_at"]) == (None, None)


@pytest.mark.parametrize("body", [None, "", ONE_CLICK, "anything=else", "x" * 300_000])
def test_whatever_the_body_says_the_post_is_the_click(world: World, api: Api, secret: bytes, body: str | None) -> None:
    answer = api.call("POST", f"/u/{_token(secret)}", body, headers=FORM, key="")

    assert (answer.status, world.count("suppressions")) == (200, 1)


def test_a_stronger_suppression_of_the_type_stays(world: World, api: Api, secret: bytes) -> None:
    add_suppression(world, reason="complaint", notification_type="news")

    _post(api, _token(secret))

    assert [row["reason"] for row in world.rows("SELECT reason FROM suppressions")] == ["complaint"]


def test_it_holds_for_its_tenant_only(world: World, api: Api, secret: bytes) -> None:
    world.add_tenant()
    for tenant in (TENANT, OTHER_TENANT):
        world.add_user(tenant=tenant)
        add_type(world, "news", tenant=tenant, transactional=False)

    _post(api, _token(secret))
    for tenant in (TENANT, OTHER_TENANT):
        world.accept(tenant=tenant, type="news")
    world.dispatch()

    assert {(route["tenant_id"], route["status"]) for route in world.routes()} == {
        (TENANT, "skipped"),
        (OTHER_TENANT, "published"),
    }


def _forgeries(secret: bytes) -> dict[str, str]:
    good = _token(secret)
    return {
        "of another secret": _token(b"another secret"),
        "cut": good[:-1],
        "longer": good + "AAAA",
        "of another start": ("B" if good[0] == "A" else "A") + good[1:],
        "of no bytes": "A",
        "a word": "hello",
        "an id": str(TENANT),
        "out of the alphabet": good[:-1] + "!",
        "nul": "%00",
        "letters of another script": "%D0%96" * 30,
        "far too long": "A" * 5_000,
        "half a character": "%ff%fe",
        "code": "%3Cscript%3Ealert(1)%3C%2Fscript%3E",
    }


FORGERIES = list(_forgeries(b"any secret"))


@pytest.mark.parametrize("name", FORGERIES)
def test_a_token_that_is_not_ours_changes_nothing_and_gets_the_very_same_answer(
    world: World, api: Api, secret: bytes, name: str
) -> None:
    forged = _post(api, _forgeries(secret)[name])
    stored = world.count("suppressions")
    good = _post(api, _token(secret))

    assert (forged.status, forged.headers, forged.text) == (good.status, good.headers, good.text)
    assert (stored, world.count("suppressions")) == (0, 1)


@pytest.mark.parametrize("body", [None, "act=unsubscribe", "act=undo"], ids=["looking", "the button", "undoing"])
def test_tokens_that_are_not_ours_cannot_be_told_apart(world: World, api: Api, secret: bytes, body: str | None) -> None:
    """Whatever is wrong with them, and also when they were ours: of a user or a tenant that is gone."""
    user_id, gone = world.add_user("bob"), UUID(int=9)
    known = address_hash(TENANT, "email", "bob@example.com")
    orphans = {
        "of a user that is gone": sign(Subject(TENANT, known, "news", gone), secret),
        "of a thread of theirs": sign_thread(ThreadSubject(TENANT, gone, "issue", "1"), secret),
        "of a tenant that is gone": sign(Subject(gone, known, "news"), secret),
        "of another tenant's user": sign_thread(ThreadSubject(world.add_tenant(), user_id, "issue", "1"), secret),
    }
    method = "POST" if body else "GET"

    answers = [
        api.call(method, f"/u/{token}", body, headers=FORM, key="", request_id="same")
        for token in [*_forgeries(secret).values(), *orphans.values()]
    ]

    assert answers[0].status == 200
    assert [answer for answer in answers if answer != answers[0]] == []
    assert world.count("notification_threads") == 0


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_pages_are_kept_nowhere_and_load_nothing(world: World, api: Api, secret: bytes, method: str) -> None:
    headers = api.call(method, f"/u/{_token(secret)}", key="").headers

    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert (headers["Cache-Control"], headers["Referrer-Policy"]) == ("no-store", "no-referrer")
    policy = headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"} <= set(policy)
    assert not [part for part in policy if part.startswith("script-src")]
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_page_wears_the_one_style_that_its_policy_lets_in(world: World, api: Api, secret: bytes) -> None:
    page = api.get(f"/u/{_token(secret)}", key="")

    style = page.text.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in page.headers["Content-Security-Policy"].split("; ")
    assert "style=" not in page.text


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_others_hang_onto_the_link_keeps_nobody_from_unsubscribing(
    world: World, api: Api, secret: bytes, method: str
) -> None:
    assert api.call(method, f"/u/{_token(secret)}", key="", query="utm_source=mail&x=%ff").status == 200


def test_a_link_that_cannot_be_checked_just_now_is_503_and_not_a_promise(
    world: World, api: Api, secret: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSUBSCRIBE_SECRET_ARN", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:gone-AbCdEf")
    settings.settings.cache_clear()
    secrets.forget()

    answer = _post(api, _token(secret))

    assert (answer.status, answer.json["type"]) == (503, "/errors#unavailable")


def test_a_path_cannot_break_out_of_the_page(world: World, api: Api) -> None:
    page = api.get('/u/"><img src=x onerror=alert(1)>', key="").text

    assert "<img" not in page
    assert "onerror" not in page


def test_a_secret_that_cannot_be_read_leaves_no_send_in_doubt(world: World, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSUBSCRIBE_SECRET_ARN", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:gone-AbCdEf")
    settings.settings.cache_clear()
    secrets.forget()
    world.add_user()
    add_type(world, "news", transactional=False)
    api.send(intent(type="news"))
    api.send()

    with suppress(Exception):
        world.dispatch()

    assert [attempt["outcome"] for attempt in world.attempts() if attempt["outcome"] is None] == []
    assert len(world.email.accepted) == 1


def test_while_the_secret_of_the_links_cannot_be_read_a_click_is_503(
    world: World, api: Api, secret: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSUBSCRIBE_SECRET_ARN", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:none")
    settings.settings.cache_clear()

    answer = _post(api, _token(secret))

    assert_problem(answer, 503, "unavailable")
    assert int(answer.headers["Retry-After"]) >= 1
    assert world.count("suppressions") == 0


def test_the_page_that_asks_needs_no_secret(world: World, api: Api, secret: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSUBSCRIBE_SECRET_ARN", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:none")
    settings.settings.cache_clear()

    assert api.get(f"/u/{_token(secret)}", key="").status == 200
