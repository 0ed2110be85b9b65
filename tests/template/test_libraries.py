"""A build with libraries of the wrong processor, or too much of them, is noticed before it is deployed."""

from pathlib import Path

from tests.template.libraries import HEAVIEST_LAYER, too_heavy, unloadable

X86_64, AARCH64 = 62, 183


def _library(path: Path, machine: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x7fELF" + bytes(14) + machine.to_bytes(2, "little"))


def test_libraries_for_arm64_and_plain_files_pass(tmp_path: Path) -> None:
    _library(tmp_path / "SharedLayer/python/driver.so", AARCH64)
    (tmp_path / "SharedLayer/python/driver.py").write_text("import driver")

    assert unloadable(tmp_path) == []


def test_a_library_for_another_processor_is_named(tmp_path: Path) -> None:
    _library(tmp_path / "SharedLayer/python/driver.so", X86_64)

    assert unloadable(tmp_path) == ["SharedLayer/python/driver.so"]


def test_a_layer_that_grew_too_heavy_is_named_with_its_weight(tmp_path: Path) -> None:
    _weighing(tmp_path / "SharedLayer/python/locales.dat", HEAVIEST_LAYER + 1)
    _weighing(tmp_path / "MigrationsLayer/0001.sql", HEAVIEST_LAYER)

    assert too_heavy(tmp_path) == ["SharedLayer: 45.0 MB"]


def _weighing(path: Path, size: int) -> None:
    """A file with holes: it weighs what it says and takes no room."""
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(size)
