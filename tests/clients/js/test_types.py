"""The types, by the TypeScript compiler, on examples that use everything and some that are wrong on purpose."""

import json
import re
from pathlib import Path

import pytest

from tests.clients.js import packages
from tests.clients.js.conftest import EXAMPLE, Project

# What a project asks of its compiler: every check, those of the packages' own types included.
OPTIONS = {
    "strict": True,
    "noEmit": True,
    "target": "es2022",
    "lib": ["es2022", "dom", "dom.iterable"],
    "jsx": "react-jsx",
    "types": [],
    "skipDefaultLibCheck": True,
    "noUncheckedIndexedAccess": True,
    "exactOptionalPropertyTypes": True,
}
BUNDLER = {"module": "esnext", "moduleResolution": "bundler"}
NODE = {"module": "nodenext", "moduleResolution": "nodenext"}
REACT_18 = {"paths": {"react": ["./node_modules/@types/react-18"], "react/*": ["./node_modules/@types/react-18/*"]}}


@pytest.mark.parametrize("options", [NODE, BUNDLER | REACT_18], ids=["as Node resolves, React 19", "as bundlers do, React 18"])
def test_the_examples_are_taken_and_what_is_wrong_in_them_is_not(whole_project: Project, options: dict[str, object]) -> None:
    wrong = sum(len(re.findall("@ts-expect-error", path.read_text())) for path in EXAMPLE.iterdir())
    config = whole_project.folder / "tsconfig.json"
    config.write_text(json.dumps({"compilerOptions": OPTIONS | options, "include": ["example"]}))

    said = packages.run(packages.node(), whole_project.tool("tsc"), "--project", config, "--listFiles", cwd=whole_project.folder)

    assert wrong == 11
    assert {"client/index.d.ts", "inbox/index.d.ts", "inbox/react.d.ts"} <= {
        "/".join(Path(line).parts[-2:]) for line in said.splitlines()
    }


def test_the_examples_of_the_pages_can_be_bundled(whole_project: Project) -> None:
    pages = [packages.ROOT / "docs" / "inbox-component.md", packages.SOURCES / "inbox" / "README.md"]
    blocks = [block for page in pages for block in re.findall(r"```jsx?\n(.*?)```", page.read_text(), re.S)]
    examples = [block for block in blocks if '"@tocsin/inbox' in block]
    for number, block in enumerate(examples):
        (whole_project.folder / f"page-{number}.jsx").write_text(block)

    entries = [f"page-{number}.jsx" for number in range(len(examples))]
    options = ["--bundle", "--jsx=automatic", "--format=esm", "--outdir=pages", "--log-level=warning"]
    packages.run(packages.node(), whole_project.tool("esbuild"), *entries, *options, cwd=whole_project.folder)

    assert len(examples) == 4
    for number in range(len(examples)):
        assert 'customElements.define("tocsin-inbox"' in (whole_project.folder / "pages" / f"page-{number}.js").read_text()
