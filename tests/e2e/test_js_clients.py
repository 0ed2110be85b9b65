"""The JavaScript packages with a whole stack behind them: the client by Node's test runner, and what the pages tell to type."""

import re
from pathlib import Path

import pytest

from devstack.launch import ROOT, RunningStack
from tests.clients.js import packages

PAGES = ["docs/clients.md", "clients/js/client/README.md"]
CALLS = Path(__file__).with_name("js_client.test.mjs")


def environment(stack: RunningStack) -> dict[str, str]:
    return {"TOCSIN_URL": stack.dev["base_url"], "TOCSIN_KEY": stack.dev["api_key"]}


def test_every_call_of_the_client_is_what_the_service_understands(running_stack: RunningStack) -> None:
    written = len(re.findall(r"^test\(", CALLS.read_text(), re.M))

    said = packages.run(packages.node(), "--test", "--test-reporter=tap", CALLS, cwd=CALLS.parent, **environment(running_stack))

    assert written > 0
    assert f"# pass {written}\n" in said, said


@pytest.mark.parametrize("page", PAGES)
def test_the_scripts_of_a_page_work_as_pasted(running_stack: RunningStack, tmp_path: Path, page: str) -> None:
    scripts = re.findall(r"```js\n(.*?)```", (ROOT / page).read_text(), re.S)
    (tmp_path / "node_modules" / "@tocsin").mkdir(parents=True)
    (tmp_path / "node_modules" / "@tocsin" / "client").symlink_to(packages.SOURCES / "client")
    for number, script in enumerate(scripts):
        (tmp_path / f"{number}.mjs").write_text(script)

    together = "".join(f'await import("./{number}.mjs");\n' for number in range(len(scripts)))
    said = packages.run(packages.node(), "--input-type=module", "-e", together, cwd=tmp_path, **environment(running_stack))

    assert scripts
    assert "unknown-users" in said or page != "docs/clients.md"
