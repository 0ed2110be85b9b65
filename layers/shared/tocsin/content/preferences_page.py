"""The preferences page: one form for channels, kinds, caps and quiet hours, which needs no script. Pure."""

from html import escape

from tocsin.content.brand import Brand
from tocsin.content.page_frame import ReaderPage, framed, named
from tocsin.content.preferences_form import Choices, Filled, untouched
from tocsin.content.preferences_sections import channels_section, hours_section, kinds_section, label_of
from tocsin.content.preferences_words import WORDS, PreferencesWords


def preferences_page(
    choices: Choices,
    brand: Brand,
    language: str,
    *,
    filled: Filled | None = None,
    wrong: dict[str, str] | None = None,
    is_saved: bool = False,
) -> ReaderPage:
    """`filled` is what the reader sent, where it is shown again; `wrong` says by field what is the matter with it."""
    words, answers = WORDS[language], filled or untouched(choices)
    said = {name: getattr(words, word) for name, word in (wrong or {}).items()}
    sections = (
        channels_section(words, choices, answers, said),
        kinds_section(words, choices, answers),
        hours_section(words, choices, answers, said),
    )
    lead = f'<p class="soft">{escape(words.lead).format(sender=named(brand.name))}</p>' if brand.name else ""
    content = (
        f"{lead}{_notice(words, said, is_saved=is_saved)}"
        f'<form method="post">{"".join(sections)}<div class="save"><button>{escape(words.save)}</button></div></form>'
    )
    return framed(content, heading=words.title, language=language, brand=brand, is_wide=True)


def unknown(language: str) -> ReaderPage:
    """For whatever opens nobody's preferences: forged, of a person who is gone, or of a sender who is."""
    words = WORDS[language]
    return framed(f"<p>{escape(words.unknown)}</p>", heading=words.unknown_title, language=language, brand=None)


def trouble(word: str, language: str) -> ReaderPage:
    """`word` is the name of the one that says why: trouble, unreadable, too_often."""
    words = WORDS[language]
    content = f'<p role="alert">{escape(getattr(words, word))}</p><p><a href="?">{escape(words.retry)}</a></p>'
    return framed(content, heading=words.trouble_title, language=language, brand=None, is_news=True)


def _notice(words: PreferencesWords, said: dict[str, str], *, is_saved: bool) -> str:
    if said:
        found = "".join(
            f'<li><a href="#{name.replace(".", "-")}">{escape(label_of(words, name))}</a>: {escape(text)}</li>'
            for name, text in said.items()
        )
        return f'<div class="bad notice" role="alert" tabindex="-1" autofocus>{escape(words.wrong)}<ul>{found}</ul></div>'
    return f'<p class="notice" role="status" tabindex="-1" autofocus>{escape(words.saved)}</p>' if is_saved else ""
