"""The entity diagrams are those of the schema that the migrations make."""

import re
from pathlib import Path

import pytest

from tests.world import World
from tools import schema_diagram
from tools.schema_diagram import CHAPTERS, COMMAND, LINKS, PAGES, diagram, drawn_into, read


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_diagrams_are_those_of_the_schema(path: Path, world: World) -> None:
    page = path.read_text(encoding="utf-8")

    assert drawn_into(page, read(world.admin)) == page, f"the schema has changed: run `{COMMAND}`"


def test_every_table_is_in_one_chapter_and_has_its_place_on_the_page(world: World) -> None:
    drawn = [table for tables in CHAPTERS.values() for table in tables]

    assert sorted(drawn) == sorted(read(world.admin).tables), "tools/schema_diagram.py names the chapters"
    markers = re.findall(r"^<!-- diagram: (\w+) -->$", "\n".join(path.read_text() for path in PAGES), re.M)
    assert sorted(markers) == sorted([*CHAPTERS, schema_diagram.OVERVIEW])


def test_every_reference_without_a_foreign_key_names_columns_that_exist_and_is_none(world: World) -> None:
    schema = read(world.admin)
    enforced = {(key.table_name, key.parent, frozenset(key.columns) - {"tenant_id"}) for key in schema.keys if key.kind == "f"}

    for link in LINKS:
        assert set(link.columns) <= {column.name for column in schema.columns_of(link.child)}, link
        assert (link.child, link.parent, frozenset(link.columns)) not in enforced, link


def test_a_changed_table_changes_its_diagram(breakable_world: World) -> None:
    before = diagram(read(breakable_world.admin), "who")
    breakable_world.admin.execute("ALTER TABLE devices ADD COLUMN colour text, ADD UNIQUE (tenant_id, user_id)")

    after = diagram(read(breakable_world.admin), "who")

    assert set(after.splitlines()) - set(before.splitlines()) == {
        '        text colour "nullable"',
        '    users ||--o| devices : "user_id (cascade)"',
    }
