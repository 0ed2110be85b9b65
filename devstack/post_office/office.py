"""The post office itself: which request is what, and the order in which a letter is judged, kept and answered."""

from collections.abc import Callable
from email.message import Message
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from devstack.post_office import control, faults, fcm, oauth, sendgrid, ses, sns, twilio
from devstack.post_office.events import Event, Events
from devstack.post_office.ledger import Ledger
from devstack.post_office.letters import Letter, Provider, RefusedError, Reply, Silence
from devstack.post_office.rules import Rules
from devstack.post_office.ses_standing import Standing
from devstack.post_office.wire import Server

SILENT = {"drop": Silence.DROP, "accept_then_drop": Silence.DROP, "accept_then_hang": Silence.HANG}


class PostOffice:
    """SES, SNS, SendGrid, Twilio and FCM on a local port.

    `events` is called with SES's events, from a thread of its own. `on_request` is called with the channel of every
    request ("email", "sms", "push", or "endpoint" when a device is registered and "token" when FCM is logged in to)
    before anything is done about it. `rules` say who may send; without any, everybody may.
    """

    def __init__(
        self,
        ledger: Path,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        events: Callable[[Event], None] | None = None,
        on_request: Callable[[str], None] | None = None,
        rules: Rules | None = None,
    ) -> None:
        self.faults = faults.Faults()
        self.ses = Standing()
        self.events = Events(events)
        self._ledger = Ledger(ledger)
        self._on_request = on_request
        self._rules = rules or Rules()
        self._host = host
        self._port = port
        self._server: Server | None = None

    @property
    def url(self) -> str:
        return f"http://{self._host}:{self._port}"

    def ledger(self) -> list[dict[str, Any]]:
        """Everything accepted, oldest first; also when stopped."""
        return self._ledger.rows()

    def forget(self) -> None:
        """Empty the ledger."""
        self._ledger.clear()

    def fail(self, channel: str, mode: str, times: int | None = None, match: str | None = None) -> None:
        """Fail in this mode, the given number of times or until healed, after the faults set before are used up."""
        self.faults.add(faults.Fault(channel, mode, times, match))

    def heal(self) -> None:
        self.faults.clear()

    def start(self) -> None:
        self._server = Server(self._port, self.answer, self._host)
        self._port = self._server.server_port  # the same one after a restart
        self.events.start()
        self._server.start()

    def stop(self) -> None:
        if self._server:
            self._server.stop()
        self._server = None
        self.events.stop()
        self._ledger.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def answer(self, method: str, target: str, body: bytes, headers: Message) -> Reply | Silence:
        """Answer one HTTP request, or do not."""
        path, shown = urlsplit(target).path, headers.get("Authorization", "")
        try:
            match method, path.split("/")[1:]:
                case "POST", ["v2", "email", "outbound-emails"]:
                    self._notice("email")
                    return self._deliver(self._rules.check_email(ses.read(body), shown), ses)
                case "GET", ["v2", "email", "account"]:
                    self._rules.check_account(shown)
                    return self.ses.account(sent=sum(row["provider"] == "ses" for row in self._ledger.rows()))
                case "GET", ["v2", "email", "identities", name]:
                    return self.ses.identity(self._rules.check_identity(unquote(name), shown))
                case "POST", [""]:
                    return self._sns(self._rules.check_form(dict(parse_qsl(body.decode(), keep_blank_values=True)), shown))
                case "POST", ["v3", "mail", "send"]:
                    self._notice("email")
                    return self._deliver(sendgrid.read(body, shown), sendgrid)
                case "POST", ["2010-04-01", "Accounts", account, "Messages.json"]:
                    self._notice("sms")
                    return self._deliver(twilio.read(body, shown, account), twilio)
                case "POST", ["v1", "projects", project, "messages:send"]:
                    self._notice("push")
                    return self._deliver(fcm.read(body, shown), fcm.Project(project))
                case "POST", ["token"]:
                    self._notice("token")
                    return self._grant(oauth.read(body))
                case _:
                    return control.answer(self, method, path, body)
        except RefusedError as refused:
            return refused.reply

    def _sns(self, form: dict[str, str]) -> Reply | Silence:
        match form.get("Action"):
            case "Publish":
                self._notice("sms" if "PhoneNumber" in form else "push")
                return self._deliver(sns.read(form, self._ledger.token_of), sns)
            case "CreatePlatformEndpoint":
                self._notice("endpoint")
                reply, arn = sns.endpoint_created(form)
                self._ledger.add_endpoint(arn, form["Token"])
                return reply
            case action:
                raise sns.invalid(f"Action Reason: {action} is not known here")

    def _grant(self, account: str) -> Reply | Silence:
        mode = self.faults.take("token", [account])
        return (SILENT.get(mode) or oauth.failure(mode)) if mode else oauth.granted()

    def _deliver(self, letter: Letter, provider: Provider) -> Reply | Silence:
        mode = self.faults.take(letter.channel, letter.to)
        if mode and mode not in faults.AFTER:
            return SILENT.get(mode) or provider.failure(mode)
        message_id = provider.new_message_id()
        row = self._ledger.add(letter, message_id)
        self.events.submit(row)
        if mode:
            return SILENT.get(mode) or provider.failure(mode)
        return provider.accepted(message_id)

    def _notice(self, channel: str) -> None:
        if self._on_request:
            self._on_request(channel)
