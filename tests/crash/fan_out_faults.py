"""What a child process does to itself before it fans out. Light to import: a child is forked for each try."""

import os
from typing import Any

from tocsin.audience import fan_out
from tocsin.content import plain
from tocsin.content.plain import Content


def small_pages() -> None:
    """Every event for two people or more takes several pages."""
    fan_out.PAGE = fan_out.MOST_IN_BATCH = 2


def die_of_poison() -> None:
    """The words of one type of event end the process that looks for them."""
    render = plain.render

    def render_or_die(notification_type: str, payload: dict[str, Any]) -> Content:
        if notification_type == "poison":
            os._exit(9)
        return render(notification_type, payload)

    plain.render = render_or_die
