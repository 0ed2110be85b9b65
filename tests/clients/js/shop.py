"""Somebody's page that shows the bell from the npm package, and their server that makes the tokens."""

from tests.browser.fake_inbox import POLICY, Answer, Asked, FakeInbox
from tests.clients.js import packages
from tests.clients.js.packages import SOURCES

HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title><main></main>'
MAPPED = f"""{HEAD}
<script type="importmap" nonce="once">{{"imports": {{"@tocsin/inbox": "/npm/index.js"}}}}</script>
<script type="module" src="/page.js"></script>"""
MAPPED_SCRIPT = """import { TocsinInbox, tokenFrom } from "@tocsin/inbox";
const bell = document.createElement("tocsin-inbox");
window.isOurs = bell instanceof TocsinInbox;
bell.setAttribute("api", "{api}");
bell.tokenProvider = tokenFrom("/tocsin-token");
document.querySelector("main").append(bell);"""
BUNDLED = f'{HEAD}<script type="module" src="/page.js"></script>'


class Shop(FakeInbox):
    """An inbox, and somebody's page that shows it."""

    def __init__(self, page: str, scripts: dict[str, str], policy: str = POLICY) -> None:
        super().__init__()
        self.page_text, self.scripts, self.policy = page, scripts, policy
        self.tokens_asked = 0
        self.token_answer = Answer(200, {"token": "good"})

    def answer(self, asked: Asked) -> Answer:
        if asked.path == "/tocsin-token":
            self.tokens_asked += 1
            return self.token_answer
        if asked.path in self.scripts:
            return Answer(200, self.scripts[asked.path], {"Content-Type": "text/javascript; charset=utf-8"})
        if asked.path == "/":
            return Answer(200, self.page_text, {"Content-Type": "text/html", "Content-Security-Policy": self.policy})
        return super().answer(asked)


def mapped_shop(api: str = "") -> Shop:
    """Without a bundler: an import map names the package. The API is the shop's own, unless another is named."""
    texts = {path.name: path.read_text() for path in (SOURCES / "inbox").glob("*.js")} | packages.bell()
    scripts = {f"/npm/{name}": text for name, text in texts.items()} | {"/page.js": MAPPED_SCRIPT.replace("{api}", api)}
    return Shop(MAPPED, scripts, POLICY.replace("script-src 'self'", "script-src 'self' 'nonce-once'"))
