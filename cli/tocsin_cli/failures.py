"""What can go wrong, as exceptions that know what to say and how the command ends. `main` shows them. Pure."""

from typing import Any
from urllib.parse import urljoin

from tocsin_cli.exits import Exit, of_status


class Failed(Exception):
    """Ends the command. `hint` is what the reader could do."""

    def __init__(self, message: str, exit_code: Exit, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
        self.hint = hint

    def lines(self) -> list[str]:
        return [self.message, *([self.hint] if self.hint else [])]


class Refused(Failed):
    """The server answered with a problem (RFC 9457), or with something else that is no success."""

    def __init__(self, method: str, path: str, status: int, problem: dict[str, Any], *, url: str = "") -> None:
        """`url` is the stack's: the problem's type leads from there to what it means."""
        self.status = status
        self.url = url
        self.problem = problem
        self.call = f"{method} {path}"
        super().__init__(str(problem.get("detail") or problem.get("title") or f"{status}"), of_status(status), hint=_hint(status))

    @property
    def kind(self) -> str:
        """The problem's name: what stands after the # of its type."""
        return str(self.problem.get("type", "")).rpartition("#")[2]

    def lines(self) -> list[str]:
        title = str(self.problem.get("title") or "The server refused")
        found = [f"{title} ({self.status})", self.message]
        errors = self.problem.get("errors")
        for one in errors if isinstance(errors, list) else []:
            if isinstance(one, dict):
                found.append(f"  {one.get('pointer', '')}: {one.get('message', '')}")
        if self.kind and self.kind != "about:blank":
            found.append(f"what it means: {urljoin(self.url, str(self.problem['type']))}")
        if self.problem.get("request_id"):
            found.append(f"request: {self.problem['request_id']} ({self.call})")
        return found + ([self.hint] if self.hint else [])


def _hint(status: int) -> str:
    if status == 401:
        return "Is this the right stack, and is its key still valid? `tocsin doctor` looks into it."
    return "`tocsin doctor` looks into it." if status >= 500 else ""


def unreachable(url: str, why: str) -> Failed:
    return Failed(f"{url} cannot be reached: {why}", Exit.UNREACHABLE, hint="`tocsin doctor` looks into it.")


def usage(message: str, hint: str = "") -> Failed:
    return Failed(message, Exit.USAGE, hint=hint)
