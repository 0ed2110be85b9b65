"""`tocsin doctor`: from this machine to the inside of the stack, the first thing to fix first."""

import email.utils
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx

from tocsin_cli import times
from tocsin_cli.client import Answer
from tocsin_cli.command import Session, command, pass_session
from tocsin_cli.config import travels_in_clear
from tocsin_cli.exits import Exit
from tocsin_cli.failures import Failed, Refused
from tocsin_cli.output import styled

SKEW = timedelta(seconds=60)  # webhooks refuse at five minutes; a minute is worth a word
_CERTIFICATE = timedelta(days=14)
_SCOPES = {"send", "read", "manage", "operate"}


@dataclass(frozen=True, slots=True)
class Check:
    """`state` is ok, warning, failed or unknown; `ends` says that nothing after it can be asked."""

    name: str
    state: str
    detail: str
    fix: str | None = None
    ends: bool = False


@command(
    "doctor",
    examples=[
        ("what is the first thing to fix?", "tocsin doctor"),
        ("of another stack", "tocsin doctor --profile prod"),
        ("what is not as it should be, for a script", "tocsin doctor --json | jq '.checks[] | select(.state != \"ok\")'"),
    ],
)
@pass_session
def COMMAND(session: Session, /) -> Exit | None:  # noqa: N802
    """Find the first thing to fix.

    First this side: the profile, the way to the stack, TLS, this machine's clock; then the stack: is it ready, what may the key
    do, and what its own diagnostics say. Exit code 1: something failed.
    """
    checks: list[Check] = []
    for check in _checks(session):
        checks.append(check)
        mark = {"ok": "✓", "warning": "!", "failed": "✗"}.get(check.state, "?")
        session.out.line((f"{mark} ", styled(check.state)[1]), f"{check.name}: {check.detail}")
    wrong = _first(checks)
    is_well = not any(check.state == "failed" for check in checks)
    session.out.json({"healthy": is_well, "first": _shown(wrong) if wrong else None, "checks": [_shown(one) for one in checks]})
    session.out.line("")
    if wrong is None:
        unknown = [check.name for check in checks if check.state == "unknown"]
        session.out.line(("All is well.", "bold green"), f"  (Not known: {', '.join(unknown)}.)" if unknown else "")
    else:
        session.out.line(("Fix this first: ", f"bold {styled(wrong.state)[1]}"), f"{wrong.name}: {wrong.detail}")
        if wrong.fix:
            session.out.line(("  do: ", "green"), wrong.fix)
    return None if is_well else Exit.NO


def _first(checks: list[Check]) -> Check | None:
    """The first that failed; else the first that is worth a word."""
    for state in ("failed", "warning"):
        for check in checks:
            if check.state == state:
                return check
    return None


def _shown(check: Check) -> dict[str, Any]:
    return {name: value for name, value in asdict(check).items() if name != "ends"}


def _checks(session: Session) -> Iterator[Check]:
    for look in (_profile, _reachable, _tls, _clock, _ready, _key, _diagnostics):
        for check in look(session):
            yield check
            if check.ends:
                return


def _profile(session: Session) -> Iterator[Check]:
    try:
        target = session.target
        target.key()
    except Failed as failure:
        yield Check("profile", "failed", failure.message, failure.hint or None, ends=True)
        return
    if session.config.is_open_to_others:
        yield Check("profile file", "warning", f"{session.config.path} can be read by others", f"chmod 600 {session.config.path}")
    person = f", as {target.person}" if target.person else ""
    yield Check("profile", "ok", f"{target.named}, {target.url}{person}")


def _reachable(session: Session) -> Iterator[Check]:
    """A name, then a connection, each with what usually is behind its failure."""
    answer = _asked(session, "/health")
    if isinstance(answer, Refused):
        fix = "Is this the address of the API (the stack's output ApiUrl), without a path behind it?"
        yield Check("reachable", "failed", f"{session.target.url} answered {answer.status} to /health", fix, ends=True)
    elif isinstance(answer, Failed):
        yield Check("reachable", "failed", answer.message, _way(session.target.url), ends=True)
    else:
        yield Check("reachable", "ok", "it answers")


def _way(url: str) -> str:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.getaddrinfo(host, port)
    except OSError:
        return f"The name {host} is not known to this machine: is it spelt rightly, and is there a network?"
    try:
        socket.create_connection((host, port), timeout=5).close()
    except ConnectionRefusedError:
        return f"Nobody listens at {host}:{port}. Of a local stack: is `make dev` running?"
    except OSError as error:
        return f"No connection to {host}:{port} ({error}): a firewall, a VPN or a proxy may be in between."
    return "There is a connection but no answer: look at TLS, and at a proxy (HTTPS_PROXY) in between."


def _tls(session: Session) -> Iterator[Check]:
    url = session.target.url
    parts = urlsplit(url)
    if parts.scheme == "http":
        if travels_in_clear(url):
            yield Check("tls", "failed", "the key and all you send can be read on the way", f"Use https:// for {parts.hostname}.")
        else:
            yield Check("tls", "ok", "none is needed on this machine")
        return
    try:
        with (
            socket.create_connection((parts.hostname or "", parts.port or 443), timeout=5) as raw,
            httpx.create_ssl_context().wrap_socket(raw, server_hostname=parts.hostname) as wrapped,
        ):
            certificate, version = wrapped.getpeercert() or {}, wrapped.version()
    except OSError as error:  # through a proxy the calls may work all the same
        yield Check("tls", "unknown", f"it cannot be looked at from here: {error}")
        return
    ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), UTC)
    left = ends - session.now()
    state = "ok" if left > _CERTIFICATE else "warning"
    fix = None if state == "ok" else "Renew the certificate; one of ACM renews itself if its DNS record still stands."
    yield Check("tls", state, f"{version}, the certificate ends in {times.lasted(left)}", fix)


def _clock(session: Session) -> Iterator[Check]:
    before = session.now()
    answer = _asked(session, "/health")
    said = answer.headers.get("date", "") if isinstance(answer, Answer) else ""
    try:
        there = email.utils.parsedate_to_datetime(said)
    except (TypeError, ValueError):
        yield Check("your clock", "unknown", "the answer has no Date")
        return
    skew = there - (before + (session.now() - before) / 2)
    if abs(skew) > SKEW:
        way = "behind" if skew > timedelta() else "ahead of"
        yield Check(
            "your clock", "warning", f"this machine is {times.lasted(abs(skew))} {way} the stack", "Set this machine's clock."
        )
    else:
        yield Check("your clock", "ok", "this machine and the stack agree")


def _ready(session: Session) -> Iterator[Check]:
    answer = _asked(session, "/ready")
    if isinstance(answer, Failed):
        fix = "Look at the deployment: the event of the resource Migration, and the database (docs/deploying.md)."
        yield Check("ready", "failed", answer.message, fix, ends=True)
    else:
        yield Check("ready", "ok", f"schema {answer.body.get('schema', '')}")


def _key(session: Session) -> Iterator[Check]:
    try:
        me = session.client.get("/v1/me")
    except Refused as refused:
        if refused.status == 404:
            yield Check("key", "unknown", "this version of the stack cannot tell what the key may do")
            return
        fix = "Get a valid key, and `tocsin profiles add` it." if refused.status == 401 else None
        yield Check("key", "failed", refused.message, fix, ends=True)
        return
    except Failed as failure:
        yield Check("key", "failed", failure.message, failure.hint, ends=True)
        return
    key, tenant = me["key"], me["tenant"]
    yield Check(
        "key", "ok", f"{key['name']} of {key['producer']}, {key['mode']}, {' '.join(key['scopes'])}; tenant {tenant['name']}"
    )
    ends = times.parsed(key.get("expires_at")) if key.get("expires_at") else None
    if ends and ends - session.now() < _CERTIFICATE:
        yield Check("key's end", "warning", f"it ends in {times.lasted(ends - session.now())}", f"tocsin keys rotate {key['id']}")
    if tenant.get("is_suspended"):
        yield Check("tenant", "failed", "it is suspended: nothing is accepted or sent", f"tocsin tenants resume {tenant['id']}")
    if missing := sorted(_SCOPES - set(key["scopes"])):
        yield Check("scopes", "ok", f"some commands need others: {' '.join(missing)}")


def _diagnostics(session: Session) -> Iterator[Check]:
    try:
        found = session.client.get("/v1/diagnostics")
    except Failed as failure:
        lacks = isinstance(failure, Refused) and failure.status in (403, 404)
        fix = (
            "A key with the scope operate sees more." if isinstance(failure, Refused) and failure.status == 403 else failure.hint
        )
        yield Check("diagnostics", "unknown" if lacks else "failed", failure.message, fix or None)
        return
    for check in found["checks"]:
        yield Check(str(check["name"]), str(check["state"]), str(check["detail"]), check.get("fix"))


def _asked(session: Session, where: str) -> Answer | Failed:
    """Without the key, and without many retries: a doctor tells what is, at once."""
    ask: Callable[..., Answer] = session.client.call
    try:
        return ask("GET", where, with_key=False, tries=2, seconds=10)
    except Failed as failure:
        return failure
