"""Reasons and timelines in plain words: no code of the service stands alone."""

import json
import re
from pathlib import Path

import pytest

from tests.console.console import Console
from tocsin.dead_letters import recovery_hints

SENDING = Path(__file__).parents[2] / "docs" / "sending.md"
TOLD = re.compile(r"^\| `(?:skipped|cancelled|failed|pending|dead_letter)`[^|]*\| ([^|]+) \|", re.MULTILINE)
VALUES = {
    "suppressed: …": ["suppressed: complaint", "suppressed: hard_bounce", "suppressed: soft_bounces", "suppressed: unsubscribe"],
    "preference: … off": ["preference: in_app off", "preference: email off"],
    "frequency_cap: …": ["frequency_cap: 3 a day"],
    "over_sending: …": ["over_sending: 5 in 3600 s"],
    "dampened: told by digest …": ["dampened: told by digest 01a1eb68-e8c0-7f4f-bb90-2dc81eb8302f"],
    "lane_…": [f"lane_{state}: time-outs in a row" for state in ("slowed", "stopped", "broken", "failing", "closed")],
}
MORE = ["erased", "time_running_out", "unsubscribe_secret_unavailable", "suppressed: opted_out", "suppressed: manual"]


def reasons() -> list[str]:
    """Every reason that the docs know, as it is written, and some more that the code has."""
    named = [code for cell in TOLD.findall(SENDING.read_text("utf-8")) for code in re.findall(r"`([^`]+)`", cell)]
    assert len(named) > 20
    return [one for code in [*named, *MORE, *recovery_hints._HINTS] for one in VALUES.get(code, [code])]


@pytest.mark.parametrize("channel", ["email", "push"])
def test_every_reason_that_the_service_writes_is_explained_without_its_code(console: Console, channel: str) -> None:
    console.open()
    asked = json.dumps([{"code": code, "channel": channel} for code in reasons()])

    told = console.page.run(
        f"import('/console/any/reasons.js').then(({{explain}}) => {asked}.map((one) => [one.code, explain(one.code, one)]))"
    )

    for code, meaning in told:
        assert meaning["rule"], f"{code} names no rule"
        assert "_" not in meaning["says"], f"{code} is shown as {meaning['says']}"
        assert len(meaning["says"].split()) > 2, f"{code} is hardly explained by {meaning['says']}"


def test_a_step_of_a_timeline_is_a_sentence_with_its_reason(console: Console) -> None:
    console.open()
    steps = [
        {"what": "deferred", "reason": "quiet_hours (3 times, the last one shown)", "route_id": "r"},
        {"what": "attempt_transient", "reason": "attempt 2 by ses (generation 2): ServiceUnavailable: busy", "route_id": "r"},
        {"what": "attempt_accepted", "reason": "attempt 3 by sns; the text was cut from 1700 characters", "route_id": "r"},
        {"what": "skipped", "reason": "suppressed: complaint; an earlier attempt may have arrived", "route_id": "r"},
        {
            "what": "dead_letter",
            "reason": "ambiguous: the answer was lost; not sent again: suppressed: complaint",
            "route_id": "r",
        },
        {"what": "provider_bounce", "reason": "ses: Transient MailboxFull", "route_id": "r"},
        {"what": "something_new", "reason": "nobody knows", "route_id": "r"},
    ]

    about = json.dumps({"channel": "email", "recipient": "user:mia"})
    told = console.page.run(
        f"import('/console/any/sentences.js').then(({{tell}}) => {json.dumps(steps)}.map((step) => tell(step, {about})))"
    )

    spam = "somebody at this address reported an earlier message as spam, so nothing more is sent there"
    lost = "The provider's answer was lost and nobody can say whether it arrived."
    assert [(one["says"], one["why"]) for one in told] == [
        (
            "The email to mia was put off 3 times.",
            "The last time: they have quiet hours. It goes out when these end. It costs no attempt.",
        ),
        ("SES did not take attempt 2 of generation 2.", "SES said: “ServiceUnavailable: busy”."),
        ("SNS took the email to mia.", "The text was cut from 1700 characters."),
        ("The email to mia was not sent.", f"S{spam[1:]}. An earlier attempt may have arrived."),
        ("The email to mia was given up.", f"{lost} “the answer was lost; it was not sent again, because {spam}”."),
        ("The email to mia came back for now.", "SES said: “Transient MailboxFull”."),
        ("Something new.", "Nobody knows."),
    ]
    assert told[0]["code"] == "deferred: quiet_hours (3 times, the last one shown)"
