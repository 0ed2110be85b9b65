"""The unsubscribe page: it asks, says what was done, and takes it back. Pure.

A link that is not known gets the same page, in words that say less."""

from dataclasses import dataclass
from html import escape

from tocsin.content.brand import Brand
from tocsin.content.page_frame import ReaderPage, framed, named
from tocsin.content.unsubscribe_words import WORDS

UNSUBSCRIBE, UNDO = "unsubscribe", "undo"  # what the forms of this page say in `act`


@dataclass(frozen=True, slots=True)
class Mailing:
    """What a link leads out of, as far as its reader may see it. Either a kind or a thread; the address is masked."""

    brand: Brand
    kind: str
    thread: str
    address: str
    preferences_path: str


def ask(mailing: Mailing | None, language: str) -> ReaderPage:
    words = WORDS[language]
    lead = words.ask_any if mailing is None else words.ask_thread if mailing.thread else words.ask_kind
    content = f"<p>{escape(lead)}</p>{_facts(mailing, language)}{_form(UNSUBSCRIBE, words.unsubscribe)}"
    more = f'<p class="soft">{escape(words.others)}</p>{_preferences(mailing, language)}'
    return framed(f"{content}{_after(more)}", heading=words.ask_title, language=language, brand=_brand(mailing))


def done(mailing: Mailing | None, language: str) -> ReaderPage:
    words = WORDS[language]
    lead = words.done_any if mailing is None else words.done_thread if mailing.thread else words.done_kind
    title = words.done_title_any if mailing is None else words.done_title
    on_its_way = f'<p class="soft">{escape(words.on_its_way)}</p>'
    undo = f"<p>{escape(words.mistake)}</p>{_form(UNDO, words.undo, is_plain=True)}{_preferences(mailing, language)}"
    content = f"{_news(lead)}{_facts(mailing, language)}{on_its_way}{_after(undo)}"
    return framed(content, heading=title, language=language, brand=_brand(mailing), is_news=True)


def undone(mailing: Mailing | None, language: str, *, is_still_stopped: bool) -> ReaderPage:
    """`is_still_stopped`: a bounce, a complaint or somebody's hand stands in the way as well."""
    words = WORDS[language]
    lead = words.undone_any if mailing is None else words.undone_thread if mailing.thread else words.undone_kind
    title = words.done_title_any if mailing is None or is_still_stopped else words.undone_title
    content = _news(words.still_stopped) if is_still_stopped else _news(lead) + _facts(mailing, language)
    more = _preferences(mailing, language)
    return framed(
        f"{content}{_after(more) if more else ''}", heading=title, language=language, brand=_brand(mailing), is_news=True
    )


def trouble(act: str, language: str) -> ReaderPage:
    """Nothing could be noted: the same button again."""
    words = WORDS[language]
    content = f'<p role="alert">{escape(words.trouble)}</p>{_form(act, words.retry)}'
    return framed(content, heading=words.trouble_title, language=language, brand=None, is_news=True)


def _news(text: str) -> str:
    return f'<p role="status">{escape(text)}</p>'


def _facts(mailing: Mailing | None, language: str) -> str:
    if mailing is None:
        return ""
    words = WORDS[language]
    facts = [
        (words.sender, mailing.brand.name),
        (words.kind, mailing.kind),
        (words.thread, mailing.thread),
        (words.address, mailing.address),
    ]
    shown = "".join(f"<dt>{escape(name)}</dt><dd>{named(value)}</dd>" for name, value in facts if value)
    return f"<dl>{shown}</dl>"


def _form(act: str, button: str, *, is_plain: bool = False) -> str:
    """Without an action: to where the page came from."""
    look = ' class="plain"' if is_plain else ""
    return f'<form method="post"><input type="hidden" name="act" value="{act}"><button{look}>{escape(button)}</button></form>'


def _preferences(mailing: Mailing | None, language: str) -> str:
    if mailing is None or not mailing.preferences_path:
        return ""
    return f'<p><a href="{escape(mailing.preferences_path)}">{escape(WORDS[language].preferences)}</a></p>'


def _after(content: str) -> str:
    return f'<div class="after">{content}</div>'


def _brand(mailing: Mailing | None) -> Brand | None:
    return mailing.brand if mailing else None
