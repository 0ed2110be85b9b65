"""docs/errors.md, made from the register of problems: `PYTHONPATH=layers/shared python -m tools.errors_page` writes it anew."""

from pathlib import Path

from tocsin.http.problem_kinds import AREAS, Kind

PAGE = Path(__file__).resolve().parent.parent / "docs" / "errors.md"
_HEAD = """# Errors

Every refusal is an RFC 9457 problem: `application/problem+json` with a `type`, a `title`, the `status`, a `detail` that
names the first cause, the `request_id` that finds it in the log, and where fields are at fault `errors`, each with a
`pointer` and a `message`.

```json
{"type": "/errors#unknown-users", "title": "Some users are not known", "status": 422,
 "detail": "Make them known with PUT /v1/users/{id} first, or give them here with their addresses: carol",
 "request_id": "9f0c…", "errors": [{"pointer": "/audience/user_ids/0", "message": "carol is not known"}]}
```

The `type` is a URI reference: on the installation that answered it leads to this page, `GET /errors`, without a key. What
stands after the `#` is the kind, and it is stable: branch on it, not on the words. What each call may answer is in `GET
/v1/openapi.json`.

Safe to repeat with the same `Idempotency-Key`: every 5xx, 429, `idempotency-key-in-flight`, `event-in-flight`, and a request
whose answer never came. Everything else needs a change first. Before anything reaches these functions, API Gateway may
answer by itself, with `{"message": …}`: 413 above 10 MB, 429 above the stage's throttle, 503 when a function has no place
free.

This page is made from `layers/shared/tocsin/http/problem_kinds.py` by `tools/errors_page.py`, and a test compares the two.
"""


def page() -> str:
    chapters = [f"## {area}\n\n" + "\n".join(map(_entry, kinds)) for area, kinds in AREAS.items()]
    return "\n".join([_HEAD, *chapters])


def _entry(kind: Kind) -> str:
    return f"### {kind.name}\n\n{kind.status}. {kind.cause}\n\n**What to do:** {kind.fix}\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
