"""The words of the pages that people reach from a mail: every language has every one of them."""

import re
from dataclasses import asdict

import pytest

from tocsin.content import preferences_words, unsubscribe_words
from tocsin.foundation.languages import SHIPPED

PAGES = {"unsubscribe": unsubscribe_words.WORDS, "preferences": preferences_words.WORDS}


def _said(page: str, language: str) -> dict[str, str]:
    return asdict(PAGES[page][language])  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("page", PAGES)
def test_every_language_that_is_shipped_has_its_words(page: str) -> None:
    assert tuple(PAGES[page]) == SHIPPED  # type: ignore[arg-type]


@pytest.mark.parametrize("language", SHIPPED)
@pytest.mark.parametrize("page", PAGES)
def test_every_word_is_there_and_has_the_same_places_to_fill(page: str, language: str) -> None:
    said, english = _said(page, language), _said(page, "en")

    for name, text in said.items():
        assert text == text.strip(), name
        assert text, name
        assert re.findall(r"\{\w*\}", text) == re.findall(r"\{\w*\}", english[name]), name


@pytest.mark.parametrize("language", [one for one in SHIPPED if one != "en"])
@pytest.mark.parametrize("page", PAGES)
def test_no_sentence_was_left_in_english(page: str, language: str) -> None:
    said, english = _said(page, language), _said(page, "en")

    assert [name for name, text in said.items() if " " in text and text == english[name]] == []


@pytest.mark.parametrize("page", PAGES)
def test_punctuation_is_set_as_the_language_sets_it(page: str) -> None:
    for name, text in _said(page, "fr").items():
        assert not re.search(r"(?<![\u00a0\u202f])[:;?!»]", text.replace("22:00", "")), name
        assert "'" not in text, name
    for name, text in _said(page, "es").items():
        assert text.count("?") == text.count("¿"), name
