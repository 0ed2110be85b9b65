"""Words as a provider takes them: in its shape, and cut to its size."""

import json

from tocsin.rendering import Content


def email_text(content: Content) -> str:
    """The plain part of an email: its words, and the link on a line of its own."""
    return f"{content.text}\n\n{content.url}" if _lacks_link(content, content.text) else content.text


def sms_text(content: Content, limit: int) -> str:
    """The title and the text as one, without saying the title twice, and the link, whole or not at all."""
    text = content.text if content.text.startswith(content.title) else f"{content.title}: {content.text}"
    cut = _cut(text, limit)
    if not _lacks_link(content, cut) or len(content.url) > limit // 2:
        return cut
    return f"{_cut(text, limit - len(content.url) - 1)}\n{content.url}"


def push_words(content: Content) -> dict[str, str]:
    """Title and body, or the title alone where there is no more to say; with the link within the 4 KiB that a push may have."""
    title = fit(content.title, 400)
    if content.text == content.title:
        return {"title": title}
    return {"title": title, "body": fit(content.text, 2_400 - _size(content.url))}


def _lacks_link(content: Content, text: str) -> bool:
    return bool(content.url) and content.url not in text.split()


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def fit(text: str, limit: int) -> str:
    """As much of the text as fits into so many bytes of JSON."""
    if _size(text) <= limit:
        return text
    kept, room = [], limit - 5  # two quotes and the ellipsis
    for character in text:
        room -= _size(character) - 2
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + "…"


def _size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode(errors="surrogatepass"))
