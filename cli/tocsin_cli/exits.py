"""What the command ends with: one table, which docs/cli.md shows. Pure."""

from enum import IntEnum


class Exit(IntEnum):
    OK = 0
    NO = 1  # the question was answered with no: unhealthy, broken, different, not delivered, or you said no
    USAGE = 2
    FORBIDDEN = 3
    NOT_FOUND = 4
    REFUSED = 5
    UNREACHABLE = 6
    INTERRUPTED = 130
    BROKEN_PIPE = 141


MEANINGS = {
    Exit.OK: "it is done, or the answer is yes",
    Exit.NO: "the answer is no: unhealthy, broken, different, not delivered; or you were asked and said no",
    Exit.USAGE: "the command line or the configuration is wrong, or nobody was there to answer a question",
    Exit.FORBIDDEN: "not signed in, or the key may not do this (401, 403)",
    Exit.NOT_FOUND: "there is no such thing (404)",
    Exit.REFUSED: "refused: not valid, or it conflicts with what is there (400, 409, 412, 413, 415, 422)",
    Exit.UNREACHABLE: "unreachable, failing or too busy, also after retries (no connection, 429, 5xx)",
    Exit.INTERRUPTED: "interrupted by Ctrl-C (`tail` and `--watch` end with 0: that is how they end)",
    Exit.BROKEN_PIPE: "whoever read the output stopped reading",
}


def of_status(status: int) -> Exit:
    """What an HTTP status that is no success means for a shell."""
    if status in (401, 403):
        return Exit.FORBIDDEN
    if status in (404, 405):
        return Exit.NOT_FOUND
    return Exit.UNREACHABLE if status == 429 or status >= 500 else Exit.REFUSED
