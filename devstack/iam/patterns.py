"""How IAM compares names: `*` is any text, `?` one character, and where a condition asks, an ARN goes part by part. Pure."""

import re
from functools import lru_cache

ARN_PARTS = 6


def matches(pattern: str, value: str, *, ignoring_case: bool = False) -> bool:
    return bool(_compiled(pattern, ignoring_case).fullmatch(value))


def matches_arn(pattern: str, value: str) -> bool:
    """No wildcard reaches beyond its part of the ARN; the last part may hold colons of its own."""
    wanted, found = pattern.split(":", ARN_PARTS - 1), value.split(":", ARN_PARTS - 1)
    if len(wanted) != ARN_PARTS or len(found) != ARN_PARTS:
        return False
    return all(matches(part, its_part) for part, its_part in zip(wanted, found, strict=True))


@lru_cache(maxsize=4096)
def _compiled(pattern: str, ignoring_case: bool) -> re.Pattern[str]:
    wild = {"*": ".*", "?": "."}
    return re.compile(
        "".join(wild.get(each) or re.escape(each) for each in pattern), re.DOTALL | (re.IGNORECASE if ignoring_case else 0)
    )
