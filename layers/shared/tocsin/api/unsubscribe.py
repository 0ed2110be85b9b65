"""The way out of a mailing, by one click."""

from typing import Any

from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.feedback import unsubscribe
from tocsin.foundation import database
from tocsin.foundation.secrets import SecretUnavailable
from tocsin.http import problems
from tocsin.http.door import Endpoint, Request, Response
from tocsin.http.html_page import MEDIA_TYPES, html_page

log = Logger(child=True)


_STYLE = (
    "body { font: 18px/1.5 system-ui, sans-serif; max-width: 28rem; margin: 15vh auto; padding: 0 1rem; } "
    "button { font: inherit; padding: .6rem 1.4rem; border: 0; border-radius: .5rem; background: #2456a6; color: #fff; }"
)


def get_unsubscribe(request: Request) -> Response:
    """A page that asks; reading it changes nothing, so that a mail scanner following links unsubscribes nobody."""
    return _page(
        "Unsubscribe?",
        """<p>This stops emails of this kind, or about this thread.</p>
        <form method="post"><button>Unsubscribe</button></form>""",  # without an action: to where the page came from
    )


def post_unsubscribe(request: Request) -> Response:
    """Acts, and answers every token alike."""

    def act(conn: Connection[Any]) -> bool:
        return unsubscribe.unsubscribe(
            conn,
            request.path_parameters.get("token", ""),
            ip_address=request.source_ip,
            user_agent=request.headers.get("user-agent", ""),
        )

    try:
        database.run(act)
    except SecretUnavailable as error:
        log.error("the secret of the links cannot be read", extra={"request_id": request.request_id, "error": str(error)})
        raise problems.unavailable("The link cannot be checked just now.") from None
    return _page("Done", "<p>If this link was ours, such emails stop. You can close this page.</p>")


def _page(title: str, content: str) -> Response:
    return html_page(title, content, style=_STYLE)


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
        "One-click unsubscribe (RFC 8058)",
        answers={503: "It cannot be noted just now; try again later"},
        answer_types=MEDIA_TYPES,
        is_link=True,
    ),
]
