"""What is published: the files that are wanted and no others, and the bell that the service serves."""

import gzip
import json
import re

import pytest

from tests.clients.js import packages
from tests.clients.js.conftest import Project
from tests.clients.js.packages import ROOT, SOURCES, WEB
from tools.asset_versions import IMPORT

ALWAYS = ["LICENSE", "README.md", "index.d.ts", "index.js", "package.json"]
PARTS = ["backoff", "crypto-node", "crypto-web", "intents", "problems", "tocsin", "transport", "webhooks"]
CLIENT = [*ALWAYS, *(f"lib/{name}.js" for name in PARTS)]
BELL = sorted(path.name for path in WEB.glob("tocsin-inbox*.js"))
INBOX = [*ALWAYS, "react.d.ts", "react.js", "server.js", "token.js", *BELL]


def test_each_package_has_exactly_the_files_that_are_wanted(project: Project) -> None:
    assert project.shipped == {"@tocsin/client": sorted(CLIENT), "@tocsin/inbox": sorted(INBOX)}


def test_the_bell_that_is_shipped_is_the_one_that_is_served(project: Project) -> None:
    shipped = {name: (project.package("@tocsin/inbox") / name).read_text() for name in BELL}
    imported = [found.groupdict() for text in shipped.values() for found in IMPORT.finditer(text)]

    assert shipped == packages.bell()
    assert {name: re.sub(r"\?v=\w+", "", (WEB / name).read_text()) for name in BELL} == shipped, "nothing else is another"
    assert {one["name"] for one in imported} == {*BELL} - {"tocsin-inbox.js"}
    assert {one["version"] for one in imported} == {None}, "not every bundler knows that it is no part of the name"


def test_what_is_gathered_for_an_archive_is_not_kept_in_git() -> None:
    ignored = (ROOT / ".gitignore").read_text().splitlines()

    assert {"clients/js/inbox/tocsin-inbox*.js", "clients/js/*/LICENSE"} <= {*ignored}


def test_nothing_is_installed_with_them_and_their_version_is_the_services() -> None:
    manifests = [json.loads((SOURCES / name / "package.json").read_text()) for name in packages.NAMES]

    assert [each.get("dependencies") for each in manifests] == [None, None]
    assert f'version = "{manifests[0]["version"]}"' in (ROOT / "pyproject.toml").read_text()
    assert manifests[0]["version"] == manifests[1]["version"]


def test_where_a_server_renders_a_page_the_bell_can_be_imported_and_does_nothing(project: Project) -> None:
    script = 'import * as all from "@tocsin/inbox"; console.log(typeof all.TocsinInbox, typeof all.tokenFrom, all.text.label)'

    said = packages.run(packages.node(), "--input-type=module", "-e", script, cwd=project.folder)

    assert said.split() == ["function", "function", "undefined"]


def loaded_with(name: str) -> set[str]:
    """A file of the bell, and all that comes with it at once."""
    imported = re.findall(r'from "\./([\w-]+\.js)', (WEB / name).read_text())
    return {name}.union(*map(loaded_with, imported))


def weights(names: set[str]) -> list[float]:
    """As they are, and compressed, in kB."""
    files = [(WEB / name).read_bytes() for name in names]
    return [sum(map(len, files)) / 1000, sum(len(gzip.compress(content, mtime=0)) for content in files) / 1000]


def test_the_bell_weighs_what_the_page_says() -> None:
    bell = loaded_with("tocsin-inbox.js")
    panel = loaded_with("tocsin-inbox-panel.js") - bell
    page = (ROOT / "docs" / "inbox-component.md").read_text()

    for names, about in ((bell, r"the bell weighs"), (panel, r"comes at the first opening:")):
        said = re.search(rf"{about} (\d+) kB, (\d+) kB compressed", page)
        assert said
        assert [int(figure) for figure in said.groups()] == pytest.approx(weights(names), rel=0.1)
    assert weights(bell)[1] < 20, "what every page loads stays small"
