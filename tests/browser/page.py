"""A tab of the test browser: looks into the page, and presses keys and buttons as a person does."""

import base64
import json
import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.browser.chromium import Chromium

PATIENCE = 15.0
# `$`, `$$` and `inbox` look into the shadow tree of the page's first inbox; `shown` is what a person can read there.
LOOK = """
window.inbox ??= document.querySelector("tocsin-inbox");
window.$ ??= (selector) => inbox.shadowRoot.querySelector(selector);
window.$$ ??= (selector) => [...inbox.shadowRoot.querySelectorAll(selector)];
window.words ??= (node) => node?.innerText.replace(/\\s+/g, " ").trim();
window.row ??= (title) => $$(".row").find((each) => each.querySelector(".title").innerText === title);
window.focused ??= () => inbox.shadowRoot.activeElement;
"""
# From here on a PATCH waits for `go()`.
HOLD_CHANGES = """const real = fetch; window.fetch = async (...all) => {
    if (all[1].method === 'PATCH') await new Promise((go) => (window.go = go));
    return real(...all);
}"""
KEY_CODES = {"Enter": 13, "Escape": 27, " ": 32, "Tab": 9, "End": 35, "Home": 36, "ArrowUp": 38, "ArrowDown": 40} | {
    "ArrowLeft": 37,
    "ArrowRight": 39,
}
TEXT_OF_KEY = {"Enter": "\r", " ": " "}


@dataclass(slots=True)
class Page:
    chromium: Chromium
    session: str
    exceptions: list[str] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)  # every error of the browser's own log, such as a file that is not there

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self.chromium.call(method, self.session, **parameters)

    def goto(self, url: str) -> None:
        """Open the address and wait for the element to be there."""
        assert "errorText" not in (answer := self.call("Page.navigate", url=url)), answer
        self.see("document.readyState === 'complete' && customElements.get('tocsin-inbox') !== undefined")

    def open_inbox(self, url: str) -> None:
        """Open the address, press the bell, and wait until something is shown."""
        self.goto(url)
        self.click(".bell")
        self.see("$('.row, .state')")

    def before_scripts(self, script: str) -> None:
        self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def run(self, expression: str) -> Any:
        answer = self.call(
            "Runtime.evaluate", expression=f"{LOOK}\n{expression}", returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in answer, f"{expression}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    def see(self, condition: str, seconds: float = PATIENCE) -> Any:
        """Look until the condition holds, and fail when it does not in time. Looking may go wrong while a page loads."""
        deadline = time.monotonic() + seconds
        last: Any = None
        while time.monotonic() < deadline:
            try:
                if (last := self.run(condition)) or last == {}:  # an element comes back as an empty object
                    return last
            except AssertionError as error:
                last = error
            time.sleep(0.015)
        shown = self.run("[$('.panel')?.innerText, inbox?.shadowRoot.activeElement?.outerHTML]") if "inbox" in condition else ""
        raise AssertionError(f"not seen in {seconds} s: {condition}\nlast: {last}\n{shown}\n{self.complaints()}")

    def equals(self, expression: str, expected: Any, seconds: float = PATIENCE) -> None:
        """Look until the expression has this value."""
        deadline = time.monotonic() + seconds
        while (found := self.run(expression)) != expected:
            assert time.monotonic() < deadline, f"{expression} is {found!r}, not {expected!r}"
            time.sleep(0.015)

    def click(self, selector_or_expression: str) -> None:
        """Press the mouse in the middle of what `$` finds, as soon as that holds still."""
        expression = selector_or_expression
        if not expression.startswith(("$", "row(", "document", "inbox")):
            expression = f"$({json.dumps(expression)})"
        box = f"""(async () => {{ const node = {expression}; node.scrollIntoView({{block: "nearest"}});
            await new Promise(requestAnimationFrame); const box = node.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2] }})()"""
        x, y = self.see(box)
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def press(self, *keys: str, shift: bool = False) -> None:
        for key in keys:
            code = KEY_CODES.get(key, ord(key[0].upper()))
            text = TEXT_OF_KEY.get(key, key if len(key) == 1 else None)
            common = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
            self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, words: str) -> None:
        self.call("Input.insertText", text=words)

    def media(self, **features: str) -> None:
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", features=named)

    def size(self, width: int, height: int, *, touch: bool = False) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)

    def accessible(self) -> list[dict[str, Any]]:
        """What a screen reader is given: role, name and properties of everything that is not ignored."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [
            {"role": node["role"]["value"], "name": node.get("name", {}).get("value", "")}
            | {each["name"]: each["value"].get("value") for each in node.get("properties", [])}
            for node in nodes
            if not node["ignored"]
        ]

    def complaints(self) -> list[str]:
        """Exceptions nobody caught and refusals of the content security policy, since the page was opened."""
        events = self.chromium.told[self.session]
        while True:
            try:
                event = events.get_nowait()
            except queue.Empty:
                return self.exceptions
            details = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                self.exceptions.append(str(details["exceptionDetails"].get("exception", {}).get("description", details)))
            if event["method"] == "Log.entryAdded" and details["entry"]["source"] == "security":
                self.exceptions.append(details["entry"]["text"])
            if event["method"] == "Log.entryAdded" and details["entry"]["level"] == "error":
                self.logged.append(f"{details['entry']['text']} {details['entry'].get('url', '')}")

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


@contextmanager
def opened_page(chromium: Chromium) -> Iterator[Page]:
    """A tab in a context of its own: no cookie, cache or connection is shared with another test."""
    context = chromium.call("Target.createBrowserContext")["browserContextId"]
    target = chromium.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
    session = chromium.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    chromium.told[session] = queue.SimpleQueue()
    page = Page(chromium, session)
    for domain in ("Page", "Runtime", "Log", "Accessibility"):
        page.call(f"{domain}.enable")
    page.call("Emulation.setFocusEmulationEnabled", enabled=True)
    try:
        yield page
    finally:
        chromium.call("Target.disposeBrowserContext", browserContextId=context)
        del chromium.told[session]
