"""The page where somebody chooses what they get, by a link in their mail."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from psycopg import Connection

from tocsin.api.reader_pages import OUT_OF_REACH, RETRY_AFTER, language_for, log_outage, shown
from tocsin.content import preferences_page
from tocsin.content.preferences_changes import changes, mistakes
from tocsin.content.preferences_form import NotTheForm, read
from tocsin.feedback import preferences_link
from tocsin.feedback.preferences_link import OpenPreferences
from tocsin.foundation import database
from tocsin.http.door import Endpoint, Request, Response
from tocsin.http.html_page import MEDIA_TYPES

_SAVED = "?saved=1"  # from wherever the page stands


def get_preferences_page(request: Request) -> Response:
    """Reading it changes nothing."""
    is_saved = parse_qs(request.raw_query).get("saved") == ["1"]

    def show(conn: Connection[Any], opened: OpenPreferences, language: str) -> Response:
        return shown(preferences_page.preferences_page(opened.choices, opened.brand, language, is_saved=is_saved))

    return _opened(request, show)


def post_preferences_page(request: Request) -> Response:
    """Keep what was changed; or show it again, with what is wrong at its field. Then back to the page, so that to load it again
    sends nothing again; where nothing was changed, there is no need to go back."""

    def keep(conn: Connection[Any], opened: OpenPreferences, language: str) -> Response:
        try:
            filled = read(request.body)
        except NotTheForm:
            return shown(preferences_page.trouble("unreadable", language), status=400)
        if wrong := mistakes(filled):
            page = preferences_page.preferences_page(opened.choices, opened.brand, language, filled=filled, wrong=wrong)
            return shown(page, status=422)
        changed = changes(filled, opened.choices)
        if changed.is_empty:
            return shown(preferences_page.preferences_page(opened.choices, opened.brand, language, is_saved=True))
        whence = {"ip_address": request.source_ip, "user_agent": request.headers.get("user-agent", "")}
        if not preferences_link.keep(conn, opened, changed, **whence):
            return _unknown(request)
        return Response(303, None, {"Location": _SAVED, "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"})

    return _opened(request, keep)


def _opened(request: Request, run: Callable[[Connection[Any], OpenPreferences, str], Response]) -> Response:
    """One answer for every token that opens nothing, whyever; what cannot be reached is a page, too."""

    def work(conn: Connection[Any]) -> Response:
        opened = preferences_link.open_page(conn, request.path_parameters.get("token", ""))
        if opened is None:
            return _unknown(request)
        language = language_for(request, opened.locale)
        if preferences_link.is_too_often(conn, opened):
            return shown(preferences_page.trouble("too_often", language), status=429, headers=RETRY_AFTER)
        return run(conn, opened, language)

    try:
        return database.run(work)
    except OUT_OF_REACH as error:
        log_outage(request, error)
        return shown(preferences_page.trouble("trouble", language_for(request)), status=503, headers=RETRY_AFTER)


def _unknown(request: Request) -> Response:
    return shown(preferences_page.unknown(language_for(request)), status=404)


_TOLD = {404: "The link is not valid, or not any more", 503: "It cannot be reached just now; try again later"}

ENDPOINTS = [
    Endpoint(
        "GET /p/{token}",
        None,
        get_preferences_page,
        "The page of a preferences link; changes nothing",
        answers=_TOLD,
        answer_types=MEDIA_TYPES,
        page_answers=(404, 429, 503),
        is_link=True,
    ),
    Endpoint(
        "POST /p/{token}",
        None,
        post_preferences_page,
        "Keep what was chosen on that page",
        answers=_TOLD
        | {
            200: "Nothing was changed",
            303: "Done; see the page itself",
            400: "It is not that page's form",
            422: "Something is wrong; the page says what, at its field",
        },
        answer_types=MEDIA_TYPES,
        page_answers=(400, 404, 422, 429, 503),
        is_link=True,
    ),
]
