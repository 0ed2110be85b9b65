"""Which shipped language a reader gets."""

import pytest

from tocsin.foundation.languages import from_header, language_of


@pytest.mark.parametrize(
    ("locale", "language"),
    [("de", "de"), ("de-AT", "de"), ("de_CH", "de"), ("FR", "fr"), ("es-419", "es"), ("pt-BR", "en"), ("", "en"), (None, "en")],
)
def test_a_locale_has_its_nearest_shipped_language(locale: str | None, language: str) -> None:
    assert language_of(locale) == language


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("de-DE,de;q=0.9,en;q=0.8", "de"),
        ("pt-BR, fr;q=0.5, es;q=0.7", "es"),
        ("en;q=0, fr", "fr"),
        ("*", None),
        ("pt", None),
        ("", None),
        (None, None),
        ("de;q=x, ,;;", None),
        ("x" * 10_000, None),
    ],
)
def test_a_browser_is_answered_in_the_language_it_asks_for_first(header: str | None, language: str | None) -> None:
    assert from_header(header) == language
