"""The pages that people reach from a mail, in a browser: under their own policy, with the keyboard, and on a phone."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.browser.page import Page
from tocsin.api.reader_pages import shown
from tocsin.content import unsubscribe_page
from tocsin.content.brand import Brand
from tocsin.content.preferences_changes import changes
from tocsin.content.preferences_form import ChannelFacts, Choices, KindFacts, read
from tocsin.content.preferences_page import preferences_page
from tocsin.content.unsubscribe_page import Mailing
from tocsin.http.door import Response

AXE = (Path(__file__).parents[1] / "console" / "vendor" / "axe.min.js").read_text("utf-8")
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
CHANNELS = [ChannelFacts("email", None, True, None), ChannelFacts("sms", "no_address", True, None)]
CHANNELS += [ChannelFacts("push", "no_device", True, None), ChannelFacts("in_app", None, True, None)]
KINDS = [
    KindFacts("alarm", "Alarms", "", True, {"email": True}),
    KindFacts("news", LONG, "مرة في الأسبوع", False, {"email": True, "sms": True, "in_app": True}),
]
CHOICES = Choices(CHANNELS, KINDS, {"start": "", "end": "", "zone": "Europe/Berlin"}, is_mixed=False)
BRAND = Brand(LONG, "", "#ffd400")


@contextmanager
def _serving(pages: dict[str, Response], posted: list[bytes]) -> Iterator[str]:
    """The pages as a door would answer them; whatever is posted leads back to the page, as saved."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages[self.path.removeprefix("/")]
            self.send_response(page.status)
            for name, value in page.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(str(page.body).encode())

        def do_POST(self) -> None:
            posted.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(303)
            self.send_header("Location", "?saved=1")
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _open(page: Page, url: str) -> None:
    page.call("Page.navigate", url=url)
    page.see(f"location.href === '{url}' && document.readyState === 'complete'")


def test_preferences_are_chosen_and_saved_with_the_keyboard_alone(page: Page) -> None:
    first, saved = preferences_page(CHOICES, BRAND, "en"), preferences_page(CHOICES, BRAND, "de", is_saved=True)
    posted: list[bytes] = []
    with _serving({"p": shown(first), "p?saved=1": shown(saved)}, posted) as url:
        _open(page, f"{url}/p")
        page.run("document.querySelector('[name=kind1][value=email]').focus()")
        page.press(" ")
        page.run("document.querySelector('#cap-email').focus()")
        page.type("3")
        page.press("Enter")
        page.see("location.search === '?saved=1' && document.activeElement.innerText === 'Ihre Einstellungen sind gespeichert.'")

    (body,) = posted
    assert changes(read(body), CHOICES).rules == {("email", ""): {"frequency_cap": 3}, ("email", "news"): {"enabled": False}}


def test_a_screen_reader_is_told_what_each_field_is_and_why_some_cannot_be_used(page: Page) -> None:
    with _serving({"p": shown(preferences_page(CHOICES, BRAND, "en"))}, []) as url:
        _open(page, f"{url}/p")
        nodes = page.accessible()

    fields = [one for one in nodes if one["role"] in ("checkbox", "switch", "textbox", "combobox", "InputTime", "button")]
    assert [one for one in fields if not one["name"]] == []
    switches = {one["name"]: (one.get("disabled", False)) for one in nodes if one["role"] == "switch"}
    assert switches == {"Email": False, "SMS": True, "Push": True, "In the app": False}
    groups = [one["name"] for one in nodes if one["role"] == "group"]
    assert {"Alarms", LONG} <= set(groups)
    assert {"main", "banner", "region"} <= {one["role"] for one in nodes}


def test_no_page_is_wider_than_a_phone_or_has_a_fault_that_axe_knows(page: Page) -> None:
    wrong = {"cap.email": "bad_cap", "end": "no_end", "zone": "bad_zone"}
    mailing = Mailing(BRAND, LONG, "", f"a•••@{LONG}.example", "../p/x")
    pages = {
        "u": shown(unsubscribe_page.ask(mailing, "fr")),
        "done": shown(unsubscribe_page.done(mailing, "de")),
        "p": shown(preferences_page(CHOICES, BRAND, "es")),
        "wrong": shown(preferences_page(CHOICES, BRAND, "en", wrong=wrong)),
    }
    page.size(375, 700, touch=True)
    with _serving(pages, []) as url:
        for name, scheme in zip(pages, ("light", "dark", "light", "dark"), strict=True):
            page.media(prefers_color_scheme=scheme)
            _open(page, f"{url}/{name}")
            assert page.run("document.documentElement.scrollWidth") == 375, name
            assert _violations(page) == [], name
            assert page.run("getComputedStyle(document.querySelector('html')).borderTopColor") == "rgb(255, 212, 0)"
        assert page.run("getComputedStyle(document.querySelector('.save button')).color") == "rgb(0, 0, 0)"


def _violations(page: Page) -> list[str]:
    page.run(f"(() => {{ {AXE} }})(), 0")
    found = "violations.map(({id, nodes}) => `${id}: ${nodes[0].html.slice(0, 160)}`)"
    return page.run(f"axe.run(document, {{resultTypes: ['violations']}}).then(({{violations}}) => {found})")  # type: ignore[no-any-return]
