"""The three parts of the preferences form as HTML: channels with their caps, kinds, quiet hours. Pure."""

from collections.abc import Iterable
from html import escape

from tocsin.content.page_frame import named
from tocsin.content.preferences_form import DISTURBING, ChannelFacts, Choices, Filled, KindFacts, Ticks, Typed, untouched
from tocsin.content.preferences_words import PreferencesWords
from tocsin.content.zone_options import zone_options


def label_of(words: PreferencesWords, name: str) -> str:
    """What a field is called, where it is spoken of elsewhere."""
    if name.startswith("cap."):
        return f"{getattr(words, name.removeprefix('cap.'))}, {words.cap}"
    return f"{words.quiet}, {getattr(words, name)}"


def channels_section(words: PreferencesWords, choices: Choices, filled: Filled, said: dict[str, str]) -> str:
    rows = "".join(_channel(words, one, filled, said) for one in choices.channels)
    kept = _kept("channels", filled.channels)
    return _section("channels", words.channels, words.channels_hint, f'<ul class="rows">{rows}</ul>{kept}')


def kinds_section(words: PreferencesWords, choices: Choices, filled: Filled) -> str:
    """Nothing, where the sender has named no kinds."""
    first, reachable = untouched(choices), choices.reachable
    rows = [
        _kind(words, one, f"kind{place}", filled.kinds.get(one.name) or first.kinds.get(one.name), reachable)
        for place, one in enumerate(choices.kinds)
    ]
    return _section("kinds", words.types, words.types_hint, f'<ul class="rows">{"".join(rows)}</ul>') if rows else ""


def hours_section(words: PreferencesWords, choices: Choices, filled: Filled, said: dict[str, str]) -> str:
    times = "".join(
        f'<div class="field"><label for="{name}">{escape(getattr(words, name))}</label>'
        f'<input type="time" {_named(name, filled.hours[name], said)}>{_wrong(name, said)}</div>'
        for name in ("start", "end")
    )
    listed = (
        f'<div class="zone field"><label for="zone">{escape(words.zone)}</label>'
        f"<select {_named('zone', None, said, 'zone-hint')}>{zone_options(filled.hours['zone'].now)}</select>"
        f'<span class="label" id="zone-hint">{escape(words.zone_hint)}</span>{_wrong("zone", said)}</div>'
    )
    mixed = f'<p class="hint">{escape(words.quiet_mixed)}</p>' if choices.is_mixed else ""
    kept = "".join(_hidden(f"{name}.was", typed.was) for name, typed in filled.hours.items())
    return _section("hours", words.quiet, words.quiet_hint, f'{mixed}<div class="fields">{times}{listed}</div>{kept}')


def _section(name: str, title: str, hint: str, content: str) -> str:
    return (
        f'<section aria-labelledby="{name}-title"><h2 id="{name}-title">{escape(title)}</h2>'
        f'<p class="hint">{escape(hint)}</p>{content}</section>'
    )


def _channel(words: PreferencesWords, one: ChannelFacts, filled: Filled, said: dict[str, str]) -> str:
    name, channel = getattr(words, one.channel), one.channel
    if one.obstacle:
        switch = f'<input type="checkbox" role="switch" disabled aria-describedby="why-{channel}">'
        why = f'<span id="why-{channel}">{escape(_obstacle(words, one))}</span>'
        return f'<li><div class="what"><label class="switch">{switch}{escape(name)}</label>{why}</div></li>'
    ticked = " checked" if channel in filled.channels.now else ""
    switch = f'<input type="checkbox" role="switch" name="channels" value="{channel}"{ticked}>'
    cap = _cap(words, channel, filled, said)
    return f'<li><div class="what"><label class="switch">{switch}{escape(name)}</label></div>{cap}</li>'


def _cap(words: PreferencesWords, channel: str, filled: Filled, said: dict[str, str]) -> str:
    if channel not in DISTURBING:
        return ""
    name, cap = f"cap.{channel}", filled.caps[channel]
    field = (
        f'<input inputmode="numeric" maxlength="8" autocomplete="off" placeholder="{escape(words.no_cap)}" '
        f"{_named(name, cap, said)}>"
    )
    label = f'<label for="{name.replace(".", "-")}">{escape(words.cap)}</label>'
    return f'<div class="cap field">{label}{field}{_hidden(f"{name}.was", cap.was)}{_wrong(name, said)}</div>'


def _kind(words: PreferencesWords, one: KindFacts, place: str, ticks: Ticks | None, reachable: frozenset[str]) -> str:
    why = f'<span id="{place}-why">{escape(words.locked)}</span>' if one.is_locked else ""
    about = f"<span>{named(one.description)}</span>" if one.description else ""
    title = f'<strong id="{place}-title">{named(one.title or one.name)}</strong>'
    boxes = "".join(_box(words, place, way, is_on, ticks, reachable, one.is_locked) for way, is_on in one.ways.items())
    kept = _hidden(f"{place}.name", one.name) + _kept(place, ticks) if ticks else ""
    group = f'<div class="ways" role="group" aria-labelledby="{place}-title"{f" aria-describedby={place}-why" if why else ""}>'
    return f'<li><div class="what">{title}{about}{why}</div>{group}{boxes}</div>{kept}</li>'


def _box(
    words: PreferencesWords, place: str, way: str, is_on: bool, ticks: Ticks | None, reachable: frozenset[str], is_locked: bool
) -> str:
    label = escape(getattr(words, way))
    if is_locked or way not in reachable or ticks is None:
        ticked = " checked" if is_on and way in reachable else ""
        why = "" if way in reachable else f' aria-describedby="why-{way}"'
        return f'<label class="way"><input type="checkbox" disabled{ticked}{why}>{label}</label>'
    ticked = " checked" if way in ticks.now else ""
    return f'<label class="way"><input type="checkbox" name="{place}" value="{way}"{ticked}>{label}</label>'


def _obstacle(words: PreferencesWords, one: ChannelFacts) -> str:
    if one.obstacle == "no_address":
        return words.no_email if one.channel == "email" else words.no_phone
    return words.no_device if one.obstacle == "no_device" else words.suppressed


def _named(name: str, typed: Typed | None, said: dict[str, str], hint: str = "") -> str:
    """The attributes of a field: its name, what stands in it, and whether that is wrong."""
    told = [one for one in (hint, f"{name.replace('.', '-')}-wrong" if name in said else "") if one]
    value = f' value="{escape(typed.now)}"' if typed else ""
    described = f' aria-describedby="{" ".join(told)}"' if told else ""
    return f'id="{name.replace(".", "-")}" name="{name}"{value}{described}{" aria-invalid=true" if name in said else ""}'


def _wrong(name: str, said: dict[str, str]) -> str:
    return f'<p class="error" id="{name.replace(".", "-")}-wrong">{escape(said[name])}</p>' if name in said else ""


def _kept(place: str, ticks: Ticks) -> str:
    return _hidden(f"{place}.shown", _words(ticks.shown)) + _hidden(f"{place}.was", _words(ticks.was))


def _words(channels: Iterable[str]) -> str:
    return " ".join(sorted(channels))


def _hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{name}" value="{escape(value)}">'
