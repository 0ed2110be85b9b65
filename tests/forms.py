"""A form as a browser without scripts fills and sends it: read from the page, changed by name, written as the body of a POST."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode

HEADERS = {"content-type": "application/x-www-form-urlencoded"}


@dataclass
class Form:
    """The fields of the last form of a page. Boxes are by name and value; what is disabled is not sent."""

    texts: dict[str, str] = field(default_factory=dict)
    boxes: dict[tuple[str, str], bool] = field(default_factory=dict)
    disabled: int = 0

    def tick(self, name: str, value: str, *, on: bool = True) -> None:
        assert self.boxes[name, value] is not on
        self.boxes[name, value] = on

    def place_of(self, kind: str) -> str:
        """What the boxes of a notification type are called."""
        return next(name.removesuffix(".name") for name, value in self.texts.items() if value == kind)

    def body(self, **others: str) -> str:
        ticked = [box for box, is_on in self.boxes.items() if is_on]
        return urlencode([*self.texts.items(), *ticked, *others.items()])


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.form, self.select, self.is_chosen = Form(), "", False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.form = Form()
        elif tag == "select":
            self.select = told["name"]
        elif tag == "option":
            self.is_chosen = "selected" in told
        elif tag == "input" and "disabled" in told:
            self.form.disabled += 1
        elif tag == "input" and told.get("type") == "checkbox":
            self.form.boxes[told["name"], told["value"]] = "checked" in told
        elif tag == "input":
            self.form.texts[told["name"]] = told["value"]

    def handle_data(self, data: str) -> None:
        if self.is_chosen:
            self.form.texts[self.select], self.is_chosen = data.strip(), False


def form_of(page: str) -> Form:
    reader = _Reader()
    reader.feed(page)
    return reader.form
