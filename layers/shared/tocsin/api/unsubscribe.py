"""The way out of a mailing, by one click, and back."""

from collections.abc import Callable
from typing import Any

from psycopg import Connection

from tocsin.api.reader_pages import OUT_OF_REACH, RETRY_AFTER, language_for, log_outage, shown
from tocsin.content import unsubscribe_page
from tocsin.content.unsubscribe_page import UNDO, UNSUBSCRIBE
from tocsin.feedback import unsubscribe_link
from tocsin.feedback.unsubscribe_link import Followed
from tocsin.foundation import database
from tocsin.foundation.secrets import SecretUnavailable
from tocsin.http import problems
from tocsin.http.door import Endpoint, Request, Response
from tocsin.http.html_page import MEDIA_TYPES

_ACTS = {f"act={act}".encode(): act for act in (UNSUBSCRIBE, UNDO)}  # as the forms of the page send them


def get_unsubscribe(request: Request) -> Response:
    """A page that asks; reading it changes nothing, so that a mail scanner following links unsubscribes nobody. It asks without
    saying more where the token is not known, or cannot be checked just now."""
    try:
        followed = database.run(lambda conn: unsubscribe_link.follow(conn, _token(request)))
    except OUT_OF_REACH as error:
        log_outage(request, error)
        followed = None
    page = unsubscribe_page.done if followed and followed.is_out else unsubscribe_page.ask
    return shown(page(followed.mailing if followed else None, _language(request, followed)))


def post_unsubscribe(request: Request) -> Response:
    """Acts, and answers every token alike; but who used the button of the page is told what it did."""
    act = _ACTS.get(request.body.strip())
    if act is None:
        return _one_click(request)
    try:
        return database.run(_undo(request) if act == UNDO else _unsubscribe(request))
    except OUT_OF_REACH as error:
        log_outage(request, error)
        return shown(unsubscribe_page.trouble(act, language_for(request)), status=503, headers=RETRY_AFTER)


def _one_click(request: Request) -> Response:
    """Of a mail program (RFC 8058), which reads no page: any other body is one, too."""
    try:
        database.run(lambda conn: unsubscribe_link.unsubscribe(conn, _token(request), **_whence(request)))
    except SecretUnavailable as error:
        log_outage(request, error)
        raise problems.unavailable("The link cannot be checked just now.") from None
    return shown(unsubscribe_page.done(None, language_for(request)))


def _unsubscribe(request: Request) -> Callable[[Connection[Any]], Response]:
    def work(conn: Connection[Any]) -> Response:
        unsubscribe_link.unsubscribe(conn, _token(request), **_whence(request))
        followed = unsubscribe_link.follow(conn, _token(request))
        return shown(unsubscribe_page.done(followed.mailing if followed else None, _language(request, followed)))

    return work


def _undo(request: Request) -> Callable[[Connection[Any]], Response]:
    def work(conn: Connection[Any]) -> Response:
        if not unsubscribe_link.undo(conn, _token(request), **_whence(request)):
            return shown(unsubscribe_page.trouble(UNDO, language_for(request)), status=429, headers=RETRY_AFTER)
        followed = unsubscribe_link.follow(conn, _token(request))
        language, mailing = _language(request, followed), followed.mailing if followed else None
        is_still_stopped = followed is not None and followed.is_stopped_otherwise
        return shown(unsubscribe_page.undone(mailing, language, is_still_stopped=is_still_stopped))

    return work


def _token(request: Request) -> str:
    return request.path_parameters.get("token", "")


def _whence(request: Request) -> dict[str, str]:
    return {"ip_address": request.source_ip, "user_agent": request.headers.get("user-agent", "")}


def _language(request: Request, followed: Followed | None) -> str:
    return language_for(request, followed.locale if followed else None)


ENDPOINTS = [
    Endpoint(
        "GET /u/{token}",
        None,
        get_unsubscribe,
        "The page of an unsubscribe link; changes nothing",
        answer_types=MEDIA_TYPES,
        is_link=True,
    ),
    Endpoint(
        "POST /u/{token}",
        None,
        post_unsubscribe,
        "One-click unsubscribe (RFC 8058), and the page's own buttons",
        answers={503: "It cannot be noted just now; try again later"},
        answer_types=MEDIA_TYPES,
        page_answers=(429, 503),
        is_link=True,
    ),
]
