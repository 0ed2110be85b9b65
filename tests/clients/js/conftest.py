"""The packages as they would be published, once for all tests of this folder."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clients.js import packages

EXAMPLE = Path(__file__).with_name("example")


@dataclass(frozen=True, slots=True)
class Project:
    """Somebody's folder: the example, with the packages in its node_modules."""

    folder: Path
    shipped: dict[str, list[str]]

    def package(self, name: str) -> Path:
        return self.folder / "node_modules" / name

    def tool(self, name: str) -> Path:
        return self.folder / "node_modules" / {"tsc": "typescript/bin/tsc", "esbuild": "esbuild/bin/esbuild"}[name]


@pytest.fixture(scope="package")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(EXAMPLE, folder / "example")
    (folder / "package.json").write_text('{"type": "module"}')
    return Project(folder, packages.pack(folder))


@pytest.fixture(scope="package")
def whole_project(project: Project) -> Project:
    """With React, TypeScript and esbuild."""
    packages.add_fetched(project.folder)
    return project
