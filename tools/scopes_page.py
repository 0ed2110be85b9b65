"""The tables of docs/keys.md, from the endpoints themselves: which call needs which scope. `python -m tools.scopes_page`."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "layers" / "shared"))

from tocsin.access.key_format import SCOPES  # noqa: E402 - only now is the path to it known
from tocsin.api.about import every_endpoint  # noqa: E402
from tocsin.http.door import ANY_KEY, Endpoint  # noqa: E402

PAGE = ROOT / "docs" / "keys.md"
COMMAND = ".venv/bin/python -m tools.scopes_page"
BEGIN, END = "<!-- calls -->\n", "<!-- end of calls -->"
BY_TOKEN = "a user token opens it too"  # noqa: S105 - words, not a token
_INLINE = "`manage` too, where `user_ids` has users inline"
_FOR_A_NOTIFICATION = "`read` too, with a `notification_id`"
_REGISTERED = "its kind: `data` too for values, `operate` too for dead letters; `send` too where it sends an intent"
# What a call asks for besides its scope, which its own code looks at.
BESIDES = {
    "POST /v1/intents": _INLINE,
    "POST /v1/intents/batch": _INLINE,
    "POST /v1/intents/wait": _INLINE,
    "POST /v1/malformed-intents/{id}/accept": _INLINE,
    "GET /v1/search": "finds users with `manage` too, dead letters with `operate` too",
    "POST /v1/templates/{name}/preview": _FOR_A_NOTIFICATION,
    "POST /v1/templates/preview": _FOR_A_NOTIFICATION,
    "DELETE /v1/suppressions/{id}": "`operate` too, where a person complained",
    "POST /v1/triggers": _REGISTERED,
    "PATCH /v1/triggers/{id}": _REGISTERED,
}
TITLES: dict[str | None, str] = {
    **{scope: f"`{scope}`" for scope in SCOPES},
    ANY_KEY: "Any key, whatever its scopes",
    None: "Open to everybody",
}


def tables(endpoints: list[Endpoint]) -> str:
    """A heading and a table for each scope, in the order of the scopes."""
    return "\n".join(_table(title, [one for one in endpoints if one.scope == scope]) for scope, title in TITLES.items())


def _table(title: str, endpoints: list[Endpoint]) -> str:
    rows = [f"| `{one.route}` | {one.summary} | {_and(one)} |" for one in endpoints]
    return "\n".join([f"### {title}", "", "| call | does | and |", "| --- | --- | --- |", *rows, ""])


def _and(endpoint: Endpoint) -> str:
    said = [BESIDES.get(endpoint.route, ""), BY_TOKEN if endpoint.is_personal else ""]
    return "; ".join(part for part in said if part)


def drawn_into(page: str, endpoints: list[Endpoint]) -> str:
    """The page with the tables between its markers as the code has them now."""
    before, begin, rest = page.partition(BEGIN)
    return f"{before}{begin}{tables(endpoints)}{END}{rest.partition(END)[2]}"


def main() -> None:
    PAGE.write_text(drawn_into(PAGE.read_text(encoding="utf-8"), every_endpoint()), encoding="utf-8")


if __name__ == "__main__":
    main()
