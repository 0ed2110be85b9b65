"""The schemas of bodies and answers, by readable names: what the OpenAPI document refers to."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from tocsin.http.answers import ShownProblem, Throttled
from tocsin.http.door import Endpoint

_PLACE = "#/components/schemas/"
_PAGE = re.compile(r"PageOf_(\w+)_")
_MODES: dict[Literal["body", "answer"], JsonSchemaMode] = {"body": "validation", "answer": "serialization"}


class _Untitled(GenerateJsonSchema):
    """A field's title would only say its name again, and generators of clients would name types after it."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Schemas:
    """`components` by their names, and for each body and each answer the schema that leads there."""

    components: dict[str, Any]
    bodies: dict[Any, dict[str, Any]]
    answers: dict[Any, dict[str, Any]]


def schemas_of(endpoints: list[Endpoint]) -> Schemas:
    bodies = {endpoint.body for endpoint in endpoints if endpoint.body}
    answers = {shape for endpoint in endpoints for shape in (endpoint.answer, *endpoint.other_answers.values())} - {None}
    shapes: list[tuple[Literal["body", "answer"], Any]] = [
        *(("body", shape) for shape in sorted(bodies, key=str)),
        *(("answer", shape) for shape in sorted({*answers, ShownProblem, Throttled}, key=str)),
    ]
    found, defined = TypeAdapter.json_schemas(
        [(number, _MODES[role], TypeAdapter(shape)) for number, (role, shape) in enumerate(shapes)],
        ref_template=f"{_PLACE}{{model}}",
        schema_generator=_Untitled,
    )
    made = {shapes[number]: _named(schema) for (number, _), schema in found.items()}
    return Schemas(
        {_name(name): _named(schema) for name, schema in sorted(defined["$defs"].items())},
        {shape: schema for (role, shape), schema in made.items() if role == "body"},
        {shape: schema for (role, shape), schema in made.items() if role == "answer"},
    )


def _name(name: str) -> str:
    """UserPage, where pydantic has PageOf_ShownUser_."""
    return _PAGE.sub(r"\1Page", name).removeprefix("Shown")


def _named(part: Any) -> Any:
    """The schema with our names in its references, and without titles: a component has its name."""
    if isinstance(part, list):
        return [_named(one) for one in part]
    if not isinstance(part, dict):
        return part
    return {
        key: _PLACE + _name(value.removeprefix(_PLACE)) if key == "$ref" else _named(value)
        for key, value in part.items()
        if key != "title" or not isinstance(value, str)
    }
