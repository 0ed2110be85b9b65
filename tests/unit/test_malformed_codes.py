"""What is wrong with a message has a code, and each code has words in the console and advice in the docs."""

import re
from pathlib import Path

import pytest

from tocsin.intake import accept_messages, refusal_words

ROOT = Path(__file__).parents[2]
WRITTEN = set(re.findall(r'Malformed\("(\w+)"', Path(accept_messages.__file__).read_text(encoding="utf-8")))
CODES = sorted(WRITTEN | set(refusal_words.CODES.values()))
PLACES = ("functions/operate/web/malformed-words.js", "docs/operations.md")


@pytest.mark.parametrize("code", CODES)
def test_a_code_has_words_and_advice(code: str) -> None:
    silent = [place for place in PLACES if not re.search(rf"[`\"]{code}[`\"]", (ROOT / place).read_text(encoding="utf-8"))]

    assert silent == []
