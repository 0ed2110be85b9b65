"""Who may send with SES and SNS, and ask SES: what the caller's role allows, and no configuration set that is switched off."""

from collections.abc import Iterable
from email.utils import parseaddr

from devstack.iam import asks, refusals
from devstack.iam.asks import Ask
from devstack.iam.callers import Caller
from devstack.iam.guard import Judge, Refused
from devstack.post_office import ses
from devstack.post_office.letters import Letter, RefusedError, Reply


class Rules:
    """Each check returns what it was given, or raises the service's own refusal. Without a judge everything is allowed."""

    def __init__(self, judge: Judge | None = None, paused: Iterable[str] = ()) -> None:
        self._judge = judge
        self._paused = frozenset(paused)

    def check_email(self, letter: Letter, authorization: str) -> Letter:
        identities, sets = asks.of_ses(parseaddr(letter.sender or "")[1], letter.configuration_set)
        self._check("ses", authorization, identities, sets)
        if letter.configuration_set in self._paused:
            raise ses.paused(str(letter.configuration_set))
        return letter

    def check_account(self, authorization: str) -> None:
        self._check("ses", authorization, [], [asks.of_ses_account()])

    def check_identity(self, name: str, authorization: str) -> str:
        self._check("ses", authorization, [], [asks.of_ses_identity(name)])
        return name

    def check_form(self, form: dict[str, str], authorization: str) -> dict[str, str]:
        self._check("sns", authorization, [], list(asks.of_sns(form, {})))
        return form

    def _check(self, service: str, authorization: str, one_of: list[Ask], all_of: list[Ask]) -> None:
        if self._judge is None:
            return
        try:
            caller = self._judge.caller(authorization)
            if caller:
                _judge(self._judge, caller, one_of, all_of)
        except Refused as refused:
            answer = refusals.denied(service, str(refused))
            raise RefusedError(Reply(answer.status, answer.body, answer.content_type, dict(answer.headers))) from refused


def _judge(judge: Judge, caller: Caller, one_of: list[Ask], all_of: list[Ask]) -> None:
    if one_of:
        judge.check_any(caller, one_of)
    for ask in all_of:
        judge.check(caller, ask)
