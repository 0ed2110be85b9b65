"""A build with libraries of the wrong processor is noticed before it is deployed."""

from pathlib import Path

from tests.template.libraries import unloadable

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
