"""How a fault gets into a template: what lies on the way to it is copied, and everything else is shared."""

from typing import Any

from tests.template.faults import Fault
from tests.template.reading import Template


def planted(template: Template, fault: Fault) -> Template:
    spoiled: Template = _changed(template, fault.place, fault.value)
    return spoiled


def _changed(node: Any, place: tuple[str | int, ...], value: Any) -> Any:
    step, *further = place
    copied: Any = dict(node) if isinstance(node, dict) else list(node)
    if further:
        copied[step] = _changed(node[step], tuple(further), value)
    elif callable(value):
        copied[step] = value(node[step])
    elif value is None:
        del copied[step]
    else:
        copied[step] = value
    return copied
