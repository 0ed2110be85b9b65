"""What the pages of links in mails share as answers: the reader's language, and what to say when something is out of reach."""

from aws_lambda_powertools import Logger

from tocsin.content.page_frame import ReaderPage
from tocsin.foundation import languages
from tocsin.foundation.outages import DatabaseUnavailable
from tocsin.foundation.secrets import SecretUnavailable
from tocsin.http.door import Request, Response
from tocsin.http.html_page import html_page

log = Logger(child=True)

OUT_OF_REACH = (SecretUnavailable, DatabaseUnavailable)
RETRY_AFTER = {"Retry-After": "30"}


def language_for(request: Request, locale: str | None = None) -> str:
    """The reader's: of their locale (which reads like a browser's wish), else of their browser, else English."""
    asked = request.headers.get("accept-language")
    return languages.from_header((locale or "").replace("_", "-")) or languages.from_header(asked) or languages.language_of(None)


def shown(page: ReaderPage, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return html_page(
        page.title,
        page.content,
        style=page.style,
        heading=page.heading,
        top=page.top,
        language=page.language,
        image_origin=page.image_origin,
        status=status,
        headers=headers,
    )


def log_outage(request: Request, error: Exception) -> None:
    said = error.said if isinstance(error, DatabaseUnavailable) else {"error": str(error)}
    log.error("a link cannot be followed just now", extra={"request_id": request.request_id} | said)
