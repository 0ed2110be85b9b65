"""What the JavaScript clients decide by themselves, by Node's own test runner."""

import re
from pathlib import Path

import pytest

from tests.clients.js import packages

HERE = Path(__file__).parent


@pytest.mark.parametrize("path", sorted(HERE.glob("*.test.mjs")), ids=lambda path: path.name)
def test_every_sentence_of_the_file_holds(path: Path) -> None:
    written = len(re.findall(r"^test\(", path.read_text(), re.M))

    said = packages.run(packages.node(), "--test", "--test-reporter=tap", path, cwd=HERE)

    assert written > 0
    assert f"# pass {written}\n" in said, said
