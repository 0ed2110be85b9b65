"""The core's session, without a page: tokens, the live line, how long it rests, and who is told."""

import re

import pytest

from tests.browser.core import Core
from tests.browser.fake_inbox import WEB

LIVE = "GET /live?wait=20"
COUNT = "GET /unread-count"
COUNTED = {"unread": 1, "capped": False}


OF_A_PAGE = re.compile(
    r"\b(?:document|window|self|globalThis|navigator|location|history|HTML\w+|customElements|\w+Storage|addEventListener)\b"
)


def test_the_core_speaks_of_no_page_and_needs_nothing_but_its_session_and_what_a_row_is() -> None:
    core, session, states = ((WEB / f"tocsin-inbox-{name}.js").read_text("utf-8") for name in ("core", "session", "states"))

    assert OF_A_PAGE.findall(core + session + states) == []
    assert re.findall(r"\bimport\b", session + states) == []
    assert re.findall(r'from "([^?]+)', core) == ["./tocsin-inbox-states.js", "./tocsin-inbox-session.js"]
    assert "import(" not in core


def test_where_it_is_tested_there_is_no_page(core: Core) -> None:
    there = core.run("['document', 'window', 'HTMLElement', 'customElements'].filter((name) => name in globalThis)")

    assert there == []


def test_every_request_carries_the_token_and_neither_cookies_nor_a_cached_answer(core: Core) -> None:
    core.run("session().ask('PATCH', '/1', {body: {read: true}}); session().ask('GET', '/2', {etag: '\"7\"'})")

    patch, get = (
        core.run(f"(({{headers, body, options}}) => ({{headers, body, options}}))(asked({line!r}))") for line in ("PATCH", "GET")
    )

    assert patch["headers"] == {"Authorization": "Bearer good", "Content-Type": "application/json"}
    assert patch["body"] == {"read": True}
    assert patch["options"] == {"cache": "no-store", "credentials": "omit", "keepalive": True}
    assert get["headers"] == {"Authorization": "Bearer good", "If-None-Match": '"7"'}
    assert get["options"]["keepalive"] is False


# Tokens.


def test_a_token_that_ran_out_is_renewed_once_for_all_who_ask_at_that_moment(core: Core) -> None:
    core.run("""globalThis.renewals = []; globalThis.one = session("old", () => new Promise((renew) => renewals.push(renew)));
        globalThis.answers = ["/a", "/b"].map((path) => one.ask("GET", path))""")
    core.answer("GET /a", status=401)
    core.answer("GET /b", status=401)
    assert core.run("renewals.length") == 1
    core.run("renewals[0]('new')")

    assert core.run("[asked('GET /a'), asked('GET /b')].map((each) => each.headers.Authorization)") == ["Bearer new"] * 2
    core.answer("GET /a", {"is": "a"})
    core.answer("GET /b", {"is": "b"})
    assert core.run("Promise.all(answers).then((all) => all.map(({data}) => data.is))") == ["a", "b"]


def test_who_learns_late_that_the_token_ran_out_takes_the_one_that_was_renewed_meanwhile(core: Core) -> None:
    core.run("""globalThis.renewals = 0; globalThis.one = session("old", async () => `new ${(renewals += 1)}`);
        for (const path of ["/a", "/b"]) one.ask("GET", path)""")
    core.answer("GET /a", status=401)
    core.answer("GET /a", {})

    core.answer("GET /b", status=401)

    assert core.run("[renewals, asked('GET /b').headers.Authorization]") == [1, "Bearer new 1"]


def test_the_provider_is_asked_for_the_first_token_too(core: Core) -> None:
    core.run("session(null, async () => 'first').join(listener())")

    assert core.run("asked('GET /live').headers.Authorization") == "Bearer first"


def test_a_fresh_token_that_is_refused_as_well_signs_out_and_nothing_more_is_asked(core: Core) -> None:
    core.run("globalThis.one = session('old', async () => 'new'); one.join(listener())")
    core.answer(LIVE, status=401)
    core.answer(LIVE, {"title": "Not valid"}, status=401)
    core.pass_time(3600)

    assert (core.told, core.waiting, core.run("one.signedOut")) == (["expired"], [], True)


def test_without_a_way_to_renew_it_everybody_is_told_once(core: Core) -> None:
    core.run(
        "for (const name of ['one ', 'other ']) session().join(listener(name)); session().ask('GET', '/a').catch(() => {}); 0"
    )
    core.answer(LIVE, status=401)
    core.answer("GET /a", status=401)

    assert core.told == ["one expired", "other expired"]


def test_a_provider_that_has_no_token_signs_out_without_a_request(core: Core) -> None:
    core.run("session(null, async () => null).join(listener())")
    core.pass_time(3600)

    assert (core.told, core.waiting) == (["expired"], [])


def test_a_provider_that_fails_is_asked_again_later_and_signs_nobody_out(core: Core) -> None:
    core.run("""globalThis.tries = 0;
        globalThis.provider = async () => { if ((tries += 1) < 3) throw new Error("no server"); return "new" };
        session(null, provider).join(listener())""")
    core.pass_time(0.5)
    core.pass_time(1)

    assert (core.run("tries"), core.told, core.waiting) == (3, [], [COUNT])


KEY = "tcn_live_0123456789012345678901_secret"


@pytest.mark.parametrize("given", [f"{KEY!r}", f"null, async () => {KEY!r}"], ids=["as the token", "by the provider"])
def test_an_api_key_is_refused_loudly_and_never_sent(core: Core, given: str) -> None:
    core.run("globalThis.cried = []; console.error = (words) => cried.push(words); 0")
    core.run(f"globalThis.one = session({given}); one.signedOut || one.join(listener())")
    core.pass_time(60)

    assert (core.waiting, core.run("one.signedOut")) == ([], True)
    assert "REVOKE THAT KEY" in core.run("cried[0]")
    assert KEY not in core.run("cried.join()")


# A token that says when it was made and when it ends; by the server's clock, which need not be ours.
TOKENS = """globalThis.made = (from, to) => `eyJ.${btoa(JSON.stringify({iat: from, exp: to})).replace(/=+$/, '')}.sig`;
    globalThis.asked_for = 0;
    globalThis.one = session(made(1000, 1900), async () => { asked_for += 1; return made(2000 + asked_for, 2900) });
    globalThis.show = () => void one.ask("GET", "/a").catch(() => {}); 0"""


def test_a_token_is_renewed_before_it_ends_and_by_its_length_whatever_the_clock_says(core: Core) -> None:
    core.run(TOKENS)
    core.pass_time(779)
    core.run("show()")
    assert core.run("[asked_for, asked('GET /a').headers.Authorization === `Bearer ${made(1000, 1900)}`]") == [0, True]
    core.answer("GET /a", {})

    core.pass_time(1)
    core.run("show()")

    assert core.run("[asked_for, asked('GET /a').headers.Authorization === `Bearer ${made(2001, 2900)}`]") == [1, True]
    assert core.waiting == ["GET /a"]


def test_a_token_that_is_still_good_outlives_a_provider_in_trouble_which_is_not_asked_all_the_time(core: Core) -> None:
    core.run(f"""{TOKENS}; one.provider = async () => {{ asked_for += 1; throw new Error("no server") }}; 0""")
    core.pass_time(800)
    core.run("show()")
    core.answer("GET /a", {})
    core.run("show()")
    core.answer("GET /a", {})
    assert core.run("[asked_for, one.signedOut]") == [1, False]

    core.pass_time(30)
    core.run("show()")

    assert core.run("asked_for") == 2


def test_a_provider_that_has_none_before_the_end_signs_out(core: Core) -> None:
    core.run(f"{TOKENS}; one.provider = async () => null; one.join(listener())")
    core.pass_time(800)
    core.news(1)
    core.pass_time(30)

    assert (core.told, core.waiting) == (["news 1", "expired"], [])


def test_without_a_provider_a_token_is_used_to_its_end(core: Core) -> None:
    core.run(f"{TOKENS}; one.provider = null")
    core.pass_time(890)
    core.run("show()")

    assert core.waiting == ["GET /a"]


def test_with_nothing_to_show_who_one_is_nothing_is_asked(core: Core) -> None:
    assert core.run("session(null).signedOut") is True


# One line for all elements of a page.


def test_the_same_person_is_one_session_and_who_joins_late_hears_the_last_news(core: Core) -> None:
    core.run("session().join(listener('one '))")
    core.news(3)
    core.run("session().join(listener('other '))")

    assert core.told == ["one news 3", "other news 3"]
    assert core.run("[session() === session(), sessions.of('https://elsewhere', 'good', null) === session()]") == [True, False]
    core.pass_time(0.4)
    core.news(4, '"2"')
    assert (core.told, core.waiting) == (["one news 4", "other news 4"], [])


def test_when_the_last_one_leaves_the_line_is_let_go(core: Core) -> None:
    core.run("""globalThis.one = session(); globalThis.both = [listener(), listener()];
        for (const each of both) one.join(each)""")
    core.run("one.leave(both[0])")
    assert core.waiting == [LIVE]

    core.run("one.leave(both[1])")
    core.pass_time(3600)

    assert (core.waiting, core.told, core.run("session() === one")) == ([], [], False)


# The line, and how long it rests.


def test_a_question_names_what_was_seen_last_and_news_are_at_least_a_moment_apart(core: Core) -> None:
    core.run("session().join(listener())")
    assert core.run("asked('GET /live').headers['If-None-Match'] ?? null") is None
    core.news(1)

    assert (core.waiting, core.rest) == ([], 0.4)
    core.pass_time(0.4)

    assert core.run("asked('GET /live').headers['If-None-Match']") == '"1"'
    core.pass_time(20)
    core.answer(LIVE, status=304, ETag='"1"')
    assert (core.told, core.rest) == (["news 1"], 0.4)


@pytest.mark.parametrize(
    ("status", "headers"), [(200, {}), (304, {"ETag": '"1"'})], ids=["without a tag", "not changed, at once"]
)
def test_a_server_that_does_not_really_wait_is_asked_twice_a_minute(core: Core, status: int, headers: dict[str, str]) -> None:
    core.run("session().join(listener())")

    core.answer(LIVE, COUNTED if status == 200 else None, status=status, **headers)

    assert core.rest == 30


@pytest.mark.parametrize(("chance", "rests"), [(0, [0.5, 1, 2, 4, 8, 15, 15]), (1, [1, 2, 4, 8, 16, 30, 30])])
def test_a_server_in_trouble_is_asked_less_and_less(core: Core, chance: int, rests: list[float]) -> None:
    core.run(f"Math.random = () => {chance}; session().join(listener())")
    core.answer(LIVE, status=503)

    found = []
    for _ in rests:
        found.append(core.rest)
        core.pass_time(float(core.rest or 0))
        core.lose(COUNT)

    assert found == rests


def test_the_time_that_the_server_names_is_waited_for(core: Core) -> None:
    core.run("session().join(listener())")

    core.answer(LIVE, status=429, Retry_After="7")

    assert core.rest == 7


def test_after_a_failure_the_cheap_question_comes_first_and_recovery_is_told_and_forgives(core: Core) -> None:
    core.run("session().join(listener())")
    core.answer(LIVE, status=503)
    core.pass_time(0.5)
    assert core.waiting == [COUNT]

    core.answer(COUNT, COUNTED, ETag='"1"')

    assert (core.told, core.waiting) == (["news 1", "weather"], [LIVE])
    core.news(2, '"2"')
    core.pass_time(0.4)
    core.answer(LIVE, status=503)
    assert core.rest == 0.5


def test_when_no_place_to_wait_is_free_the_count_is_asked_and_the_rests_still_grow(core: Core) -> None:
    core.run("session().join(listener())")
    rests = []
    for unread in range(3):
        core.answer(LIVE, status=503)
        rests.append(core.rest)
        core.pass_time(float(core.rest or 0))
        core.answer(COUNT, {"unread": unread, "capped": False}, ETag=f'"{unread}"')

    assert rests == [0.5, 1, 2]
    assert [each for each in core.told if "news" in each] == ["news 0", "news 1", "news 2"]


def test_a_movement_does_not_end_the_rest_of_a_server_in_trouble_but_the_line_that_comes_back_does(core: Core) -> None:
    core.run("session().join(listener())")
    core.answer(LIVE, status=503, Retry_After="600")
    core.pass_time(400)
    core.run("sessions.moved(); sessions.looked()")
    assert core.waiting == []

    core.run("sessions.weather()")

    assert (core.told, core.waiting) == (["weather"], [COUNT])


def test_without_a_line_nothing_is_asked_until_it_comes_back(core: Core) -> None:
    core.run("page.isOnline = false; session().join(listener())")
    core.pass_time(200)
    assert core.waiting == []

    core.run("page.isOnline = true; sessions.weather()")

    assert core.waiting == [LIVE]


def test_hidden_it_lets_go_and_asks_nothing_and_asks_at_once_when_it_is_looked_at(core: Core) -> None:
    core.run("session().join(listener())")
    core.run("page.isHidden = true; sessions.looked()")
    core.pass_time(3600)
    assert (core.waiting, core.told) == ([], [])

    core.run("page.isHidden = false; sessions.moved(); sessions.looked()")

    assert core.waiting == [LIVE]


def test_when_nobody_has_moved_for_five_minutes_it_counts_twice_a_minute_until_somebody_does(core: Core) -> None:
    core.run("session().join(listener())")
    core.pass_time(300)
    core.answer(LIVE, status=304, ETag='"1"')
    assert core.rest == 30
    core.pass_time(30)
    assert core.waiting == [COUNT]
    core.answer(COUNT, COUNTED, ETag='"1"')
    assert (core.told, core.rest) == (["news 1"], 30)

    core.run("sessions.moved()")

    assert core.waiting == [LIVE]


# What the server says of a refusal.


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ('{"title": "No", "detail": "Not this one."}', "Not this one."),
        ('{"title": "No"}', "No"),
        ("<html>502</html>", ""),
        ("null", ""),
        ("", ""),
    ],
)
def test_a_refusal_says_what_the_server_said(core: Core, raw: str, said: str) -> None:
    core.run("globalThis.failed = session().ask('GET', '/a').catch((error) => error)")
    core.answer("GET /a", raw, status=502)

    told = core.run("failed.then((error) => [error instanceof core.Refused, error.status, error.message, error.errors])")
    assert told == [True, 502, said, []]


def test_a_refusal_names_the_fields_it_is_about(core: Core) -> None:
    errors = [{"pointer": "/timezone", "message": "is not known"}]
    core.run("globalThis.failed = session().ask('PUT', '/a', {body: {}}).catch((error) => error)")
    core.answer("PUT /a", {"title": "No", "errors": errors}, status=422)

    assert core.run("failed.then((error) => error.errors)") == errors
