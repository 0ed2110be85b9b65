"""tools/asset_versions.py: imports name the version of the file they mean, however long the chain is."""

from pathlib import Path

import pytest

from tools.asset_versions import IMPORT, version_of, write_versions


def imports(path: Path) -> dict[str, str | None]:
    return {found["name"]: found["version"] for found in IMPORT.finditer(path.read_text())}


def test_every_import_is_given_the_version_of_its_file_through_a_chain_of_them(tmp_path: Path) -> None:
    first, second, third = (tmp_path / f"{name}.js" for name in ("a-first", "second", "third"))
    first.write_text('import { two } from "./second.js?v=0";\nexport const words = "./elsewhere";\n')
    second.write_text('import "./third.js";\nexport const two = 2;\n')
    third.write_text("export const three = 3;\n")

    assert write_versions(tmp_path) == {first, second}

    assert imports(first) == {"second.js": version_of(second)}
    assert imports(second) == {"third.js": version_of(third)}
    assert first.read_text().endswith('export const words = "./elsewhere";\n')
    assert third.read_text() == "export const three = 3;\n"


def test_a_change_is_carried_to_who_imports_it_and_then_there_is_nothing_to_do(tmp_path: Path) -> None:
    entry, core = tmp_path / "entry.js", tmp_path / "core.js"
    entry.write_text('import { one } from "./core.js";\n')
    core.write_text("export const one = 1;\n")
    write_versions(tmp_path)
    before = imports(entry)["core.js"]

    core.write_text("export const one = 2;\n")

    assert write_versions(tmp_path) == {entry}
    assert imports(entry)["core.js"] == version_of(core) != before
    assert write_versions(tmp_path) == set()


def test_files_that_import_each_other_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "one.js").write_text('import "./other.js";\n')
    (tmp_path / "other.js").write_text('import "./one.js";\n')

    with pytest.raises(SystemExit, match="in a circle"):
        write_versions(tmp_path)
