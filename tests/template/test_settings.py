"""The template gives each function the settings that its code reads, and no others."""

import ast

import pytest
from annotated_types import Ge, Le

from tests.template import reading
from tests.template.checks_of_variables import read_by_door
from tests.unit import settings_read
from tests.unit.settings_read import idle, is_settings, missing, read_by
from tests.unit.source import Module, modules
from tocsin.foundation.settings import Settings

GLOBALS = set(reading.sam_template()["Globals"]["Function"]["Environment"]["Variables"])
FUNCTIONS = {
    each["CodeUri"].removeprefix("./").rstrip("/"): set(each["Environment"]["Variables"])
    for each in reading.of_type(reading.sam_template(), "AWS::Serverless::Function").values()
}


def test_every_door_has_a_function() -> None:
    assert {module.path.removesuffix("/app.py") for module in modules() if module.path.endswith("/app.py")} == FUNCTIONS.keys()


@pytest.mark.parametrize("folder", FUNCTIONS)
def test_a_function_is_given_what_it_reads(folder: str) -> None:
    assert missing(set(read_by_door(folder)), FUNCTIONS[folder] | GLOBALS) == []


@pytest.mark.parametrize("folder", FUNCTIONS)
def test_a_function_reads_what_it_alone_is_given(folder: str) -> None:
    assert idle(set(read_by_door(folder)), FUNCTIONS[folder]) == []


def test_what_all_functions_are_given_is_read_by_some() -> None:
    assert idle({field for folder in FUNCTIONS for field in set(read_by_door(folder))}, GLOBALS) == []


def test_every_setting_is_read_by_some_function() -> None:
    assert settings_read.FIELDS - {field for folder in FUNCTIONS for field in set(read_by_door(folder))} == set()


def test_what_is_read_is_found() -> None:
    assert {"database_host", "plan_queue_url", "idempotency_days", "rate_limit_per_minute"} <= read_by_door("functions/intake")
    assert {"lease_seconds", "public_url", "push_queue_url", "fcm_application_arn"} <= read_by_door("functions/dispatch")
    assert not {"email_queue_url", "unsubscribe_secret_arn", "data_key_arn"} & read_by_door("functions/intake")
    assert "public_url" not in read_by_door("functions/inbox_api")
    assert not {"public_url", "unsubscribe_secret_arn", "email_queue_url"} & read_by_door("functions/webhooks")


@pytest.mark.parametrize(("queue", "is_read"), [("email", True), ("webhook", False)])
def test_a_worker_reads_what_the_work_of_its_queues_reads(queue: str, is_read: bool) -> None:
    read = read_by("functions/dispatch/app.py", modules(), serves=[queue])

    assert ("unsubscribe_secret_arn" in read) is is_read
    assert {"lease_seconds", "webhook_queue_url"} <= read


def test_a_parameter_is_bounded_as_the_setting_is_that_it_becomes() -> None:
    """Else a value that a deployment accepted would stop the function."""
    template = reading.sam_template()
    bounded = {name: _bounds(name) for name in settings_read.FIELDS if _bounds(name)}
    variables = [each["Environment"]["Variables"] for each in reading.of_type(template, "AWS::Serverless::Function").values()]
    variables.append(template["Globals"]["Function"]["Environment"]["Variables"])
    given = {name.lower(): value["Ref"] for each in variables for name, value in each.items() if "Ref" in value}

    assert bounded.keys() <= given.keys()
    for name, (default, least, most) in bounded.items():
        declared = template["Parameters"][given[name]]
        assert (declared["Default"], declared["MinValue"], declared["MaxValue"]) == (default, least, most), name


def _bounds(field: str) -> tuple[int, ...]:
    """Default, least and most of a setting that says so."""
    known = Settings.model_fields[field]
    limits = {type(each): each for each in known.metadata}
    return (known.default, limits[Ge].ge, limits[Le].le) if {Ge, Le} <= limits.keys() else ()


@pytest.mark.parametrize(
    ("source", "field"),
    [
        (
            "from tocsin.foundation.settings import settings\n\ndef handler(event, context):\n    settings().data_key_arn",
            "data_key_arn",
        ),
        ("from tocsin.foundation.settings import settings\nconfig = settings()\nlease = config.lease", "lease_seconds"),
        (
            "def handler(event, context):\n    from tocsin.people import issue_token\n    issue_token.issue",
            "user_token_secret_arn",
        ),
        ("from tocsin.access.recognise import recognise as who\nhandler = who", "user_token_secret_arn"),
        ("from tocsin.intake.cancel import cancel\nhandler = cancel", "plan_queue_url"),
        ("from tocsin.feedback import apply\nhandler = apply.apply_events", "push_queue_url"),
    ],
)
def test_a_planted_reader_is_found_and_what_it_lacks_is_missed(source: str, field: str) -> None:
    planted = Module("functions/planted/app.py", ast.parse(source))

    read = read_by("functions/planted/app.py", [*modules(), planted])

    assert field in read
    assert field.upper() in missing(read, set())
    assert field.upper() not in missing(read, {field.upper()})


def test_a_variable_that_nobody_reads_is_found() -> None:
    assert idle(set(read_by_door("functions/sweep")), FUNCTIONS["functions/sweep"] | {"RATE_LIMIT_PER_MINUTE", "STAGE"}) == [
        "RATE_LIMIT_PER_MINUTE",
        "STAGE",
    ]


def test_settings_are_spoken_of_by_their_names_alone() -> None:
    """Else what is read of them would not be found: `settings().x`, or a name or parameter `config`."""
    assert [finding for module in modules() for finding in _other_names(module)] == []


@pytest.mark.parametrize(
    "source", ["options = settings()", "def f(options: Settings):\n    pass", "settings().lease if x else 1\ny = [settings()]"]
)
def test_another_name_for_the_settings_would_be_found(source: str) -> None:
    assert _other_names(Module("functions/planted/app.py", ast.parse(source)))


def _other_names(module: Module) -> list[str]:
    if module.name == "tocsin.foundation.settings":
        return []
    fine: set[int] = set()
    found = []
    for node in ast.walk(module.tree):
        match node:
            case ast.Attribute(value=value):
                fine.add(id(value))
            case ast.Assign(targets=[target], value=value) if ast.unparse(target) == "config":
                fine.add(id(value))
            case ast.Call(args=arguments):
                fine |= {id(argument) for argument in arguments}  # whoever takes it says so by its type
            case ast.arg(arg=name, annotation=ast.Name(id="Settings")) if name != "config":
                found.append(module.at(node, f"{name}: Settings"))
    calls = [node for node in ast.walk(module.tree) if isinstance(node, ast.Call) and is_settings(node)]
    return found + [module.at(node, ast.unparse(node)) for node in calls if id(node) not in fine]
