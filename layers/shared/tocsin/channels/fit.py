"""Words as a provider takes them: in its shape, and cut to its size."""

import json

from tocsin.content.plain import Content
from tocsin.foundation.text import bidi_closed, shortened

MAX_SMS = 1_600  # what SNS and Twilio take, in characters


def sms_text(content: Content, limit: int) -> str:
    """The title and the text as one, without saying the title twice, and the link, whole or not at all."""
    text, link = _sms_words(content), content.link
    cut = shortened(text, limit)
    if not link or link in cut.split() or len(link) > limit // 2:
        return cut
    return f"{shortened(text, limit - len(link) - 1)}\n{link}"


def note_on(channel: str, content: Content) -> str:
    """What was done to the words so that a provider takes them; empty where nothing was."""
    if channel != "sms":
        return content.note
    text, sent = _sms_words(content), sms_text(content, MAX_SMS)
    return "" if sent.startswith(text) else f"the text was cut from {len(text)} characters to the {MAX_SMS} that an SMS may have"


def _sms_words(content: Content) -> str:
    text = "\n".join(map(bidi_closed, content.text.split("\n")))
    return text if content.text.startswith(content.title) else f"{bidi_closed(content.title)}: {text}"


def push_words(content: Content) -> dict[str, str]:
    """Title and body, or the title alone where there is no more to say; with the link within the 4 KiB that a push may have."""
    title = fit(content.title, 400)
    if content.text == content.title:
        return {"title": title}
    return {"title": title, "body": fit(content.text, 2_400 - _size(content.url))}


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
