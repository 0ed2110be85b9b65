"""Words cut to what a provider takes."""

import json

from tocsin.rendering import Content


def sms_text(content: Content, limit: int) -> str:
    """The title and the text as one, without saying the title twice."""
    text = content.text if content.text.startswith(content.title) else f"{content.title}: {content.text}"
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
