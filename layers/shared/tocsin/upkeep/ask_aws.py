"""Ask AWS how things stand: SES of the account and the sender, SQS of every queue; all at once, each briefly, none twice."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import Any

from tocsin.foundation import aws, deadlines
from tocsin.foundation.settings import QUEUES, MissingSetting, Settings

LIMITS = (1.0, 1.0)  # seconds to connect and to read
PAUSE = 1.0  # seconds between two questions about identities: SES's first API documents one a second, its second is silent
IN_ALL = 4.0  # seconds for all of them together, whatever else holds one up, such as the look-up of a name

_Url = Callable[[Settings], str]
WORK_QUEUES: dict[str, _Url] = {
    **{queue: partial(Settings.queue_url, queue=queue) for queue in QUEUES},
    "intake": lambda config: config.intake_queue_url,
    "feedback": lambda config: config.feedback_queue_url,
}
DEAD_LETTER_QUEUES: dict[str, _Url] = {
    "intake": lambda config: config.intake_dead_letter_queue_url,
    "work": lambda config: config.work_dead_letter_queue_url,
    "feedback": lambda config: config.feedback_dead_letter_queue_url,
    "failed_invocations": lambda config: config.failed_invocations_queue_url,
}


@dataclass(frozen=True, slots=True)
class Silent:
    """Nobody answered, or not what was asked: why, in AWS's or the SDK's own word. Whoever asked says that it is not known."""

    reason: str


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """As SQS counts, which is approximately. It does not say how old the oldest message is."""

    waiting: int
    in_flight: int
    delayed: int


@dataclass(frozen=True, slots=True)
class SesAccount:
    """`enforcement`: HEALTHY, PROBATION (under review) or SHUTDOWN. A `quota` below zero means that there is none."""

    has_production_access: bool
    is_sending_enabled: bool
    enforcement: str
    quota: float
    sent: float


@dataclass(frozen=True, slots=True)
class SesIdentity:
    name: str
    is_verified: bool
    status: str
    is_signed: bool
    dkim: str


@dataclass(frozen=True, slots=True)
class AwsAnswers:
    """What is known afterwards; of the sender's identities those that exist, up to the first that is verified."""

    account: SesAccount | Silent
    identities: list[SesIdentity] | Silent
    queues: dict[str, QueueDepth | Silent]
    dead_letters: dict[str, QueueDepth | Silent]


def ask(config: Settings, sender: str | None) -> Callable[[], AwsAnswers]:
    """Begin to ask. What is returned waits for the answers: until all are there, or their time is up."""
    ends_at = time.monotonic() + max(0.0, min(IN_ALL, deadlines.time_left()))
    with suppress(Exception):  # what keeps one from being made is said by whoever then uses it
        aws.client("sesv2", LIMITS)  # made here: the threads would all make it at once
        aws.client("sqs", LIMITS)
    account = _begin(_account)
    identities = _begin(partial(_identities, sender or ""))
    queues = {name: _begin(partial(_depth, config, url)) for name, url in WORK_QUEUES.items()}
    dead_letters = {name: _begin(partial(_depth, config, url)) for name, url in DEAD_LETTER_QUEUES.items()}

    def answers() -> AwsAnswers:
        return AwsAnswers(
            _answer(account, ends_at),
            _answer(identities, ends_at),
            {name: _answer(asked, ends_at) for name, asked in queues.items()},
            {name: _answer(asked, ends_at) for name, asked in dead_letters.items()},
        )

    return answers


def _account() -> SesAccount:
    said = aws.client("sesv2", LIMITS).get_account()
    quota = said["SendQuota"]
    return SesAccount(
        said["ProductionAccessEnabled"],
        said["SendingEnabled"],
        said["EnforcementStatus"],
        quota["Max24HourSend"],
        quota["SentLast24Hours"],
    )


def _identities(sender: str) -> list[SesIdentity]:
    """SES knows a sender by its domain or by its address. One that is verified is enough, and is asked for alone."""
    if not sender:
        return []
    domain = _identity(sender.rpartition("@")[2])
    if domain and domain.is_verified:
        return [domain]
    time.sleep(PAUSE)
    return [each for each in (domain, _identity(sender)) if each]


def _identity(name: str) -> SesIdentity | None:
    client = aws.client("sesv2", LIMITS)
    try:
        said = client.get_email_identity(EmailIdentity=name)
    except client.exceptions.NotFoundException:
        return None
    dkim = said.get("DkimAttributes", {})
    return SesIdentity(
        name,
        said["VerifiedForSendingStatus"],
        said.get("VerificationStatus", "NOT_STARTED"),
        dkim.get("SigningEnabled", False),
        dkim.get("Status", "NOT_STARTED"),
    )


def _depth(config: Settings, url: _Url) -> QueueDepth:
    names = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed")
    said = aws.client("sqs", LIMITS).get_queue_attributes(QueueUrl=url(config), AttributeNames=list(names))["Attributes"]
    return QueueDepth(*(int(said[name]) for name in names))


def _begin(question: Callable[[], Any]) -> Future[Any]:
    """A thread waits for the answer, and may be left behind: a name server knows no time limit of ours."""
    asked: Future[Any] = Future()
    Thread(target=_offer, args=(asked, question), daemon=True).start()
    return asked


def _offer(asked: Future[Any], question: Callable[[], Any]) -> None:
    try:
        asked.set_result(question())
    except Exception as error:  # whatever it is: the others are told all the same
        asked.set_result(Silent(_reason(error)))


def _answer(asked: Future[Any], ends_at: float) -> Any:
    try:
        return asked.result(max(0.0, ends_at - time.monotonic()))
    except TimeoutError:
        return Silent("no answer in time")


def _reason(error: Exception) -> str:
    """One word of AWS's or of the SDK's; never the words of a message, which may hold anything. Our own may be told."""
    answer = getattr(error, "response", None) or {}  # where nobody answered, the SDK's errors have one that is None
    code = answer.get("Error", {}).get("Code")
    return str(code or (error if isinstance(error, MissingSetting) else type(error).__name__))
