"""What is given on the command line as JSON, as a file, or through standard input."""

import json
import sys
from pathlib import Path
from typing import Any

from tocsin_cli.failures import usage


def text_of(given: str) -> str:
    """`@file` is what the file holds, `-` what standard input does, anything else itself."""
    if given == "-":
        return sys.stdin.read()
    if given.startswith("@"):
        try:
            return Path(given[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise usage(f"{given[1:]} cannot be read: {error}") from None
    return given


def object_of(given: str, what: str) -> dict[str, Any]:
    """A JSON object."""
    try:
        found = json.loads(text_of(given))
    except (ValueError, RecursionError) as error:
        raise usage(f"{what} is not JSON: {error}", "Give JSON, @file, or - for standard input.") from None
    if not isinstance(found, dict):
        raise usage(f"{what} must be a JSON object.")
    return found
