"""What the code reads, the template gives: every function, every variable, from the parameter or resource of that name."""

import re
from collections import defaultdict
from functools import cache
from typing import Any

from pydantic import ValidationError

from tests.template.doors import folders, served
from tests.template.policies import arn
from tests.template.reading import Template, named, of_type
from tests.unit.settings_read import OF_LIBRARIES, read_by
from tests.unit.source import modules
from tocsin.foundation.settings import Settings

FUNCTION = "AWS::Lambda::Function"
ABSENT_IN_THE_CLOUD = {
    "tocsin_database_url": "tests and benches alone have one URL instead of a host and a secret",
    "aws_endpoint_url": "local stacks alone have an AWS of their own",
}
# variable: why functions have different values of it
OWN = {
    "POWERTOOLS_SERVICE_NAME": "is the function's name",
    "DATABASE_SECRET_ARN": "each function works as its own role",
    "DATABASE_HOST": "the migration goes past the proxy",
    "LEASE_SECONDS": "outlives the worker, and workers differ",
}
# variable: the resource that it names. Queues, and parameters, have their variable's name.
NAMES = {
    "UNSUBSCRIBE_SECRET_ARN": "UnsubscribeSecret",
    "USER_TOKEN_SECRET_ARN": "UserTokenSecret",
    "ADMIN_KEY_SECRET_ARN": "AdminKeySecret",
    "APP_SECRET_ARN": "AppDatabaseSecret",
    "WORKER_SECRET_ARN": "WorkerDatabaseSecret",
    "RETENTION_SECRET_ARN": "RetentionDatabaseSecret",
    "DATA_KEY_ARN": "DataKey",
}
# variable: the parameters that it is of, the first that is given, where they have other names
OTHERWISE_NAMED = {
    "DATABASE_SSLMODE": ["DatabaseSslMode"],
    "DATABASE_HOST": ["RestoredDatabaseHost", "ExistingDatabaseHost"],
    "DATABASE_ADMIN_SECRET_ARN": ["RestoredDatabaseSecretArn", "ExistingDatabaseSecretArn"],
}


@cache
def read_by_door(folder: str) -> frozenset[str]:
    """The settings that the door in this folder can come to read."""
    return frozenset(read_by(f"{folder}/app.py", modules(), serves=served().get(folder, frozenset())))


def functions_are_given_what_their_code_reads(template: Template) -> list[str]:
    """Also what may be absent elsewhere: without a bucket the archive would be forgotten, and nobody would notice."""
    return [
        f"{name}: {field.upper()}"
        for name, variables in _variables(template).items()
        for field in sorted(read_by_door(folders()[name]) - ABSENT_IN_THE_CLOUD.keys())
        if field.upper() not in variables
    ]


def libraries_are_given_what_they_read(template: Template) -> list[str]:
    return [
        f"{name}: {each}" for name, variables in _variables(template).items() for each in OF_LIBRARIES if each not in variables
    ]


def variables_are_read_by_somebody(template: Template) -> list[str]:
    """Those that every function has by some function, the others by the very function that has them."""
    given = _variables(template)
    common = set.intersection(*map(set, given.values())) if given else set()
    read = {name: {field.upper() for field in read_by_door(folders()[name])} for name in given}
    by_anybody = {field for fields in read.values() for field in fields}
    idle = [
        f"{name}: {each}" for name, own in given.items() for each in sorted(set(own) - common - read[name] - OF_LIBRARIES.keys())
    ]
    return idle + sorted(common - by_anybody - OF_LIBRARIES.keys())


def variables_can_be_used(template: Template) -> list[str]:
    """A function that is given a value that its settings refuse does not start."""
    violations = []
    for name, variables in _variables(template).items():
        texts = {key.lower(): _as_text(value) for key, value in variables.items() if key.lower() in Settings.model_fields}
        try:
            Settings.model_validate({key: value for key, value in texts.items() if value})
        except ValidationError as error:
            violations += [f"{name}: {each['loc'][0]} {each['msg']}" for each in error.errors()]
    return violations


def variables_say_the_same_to_everybody(template: Template) -> list[str]:
    said: dict[str, set[str]] = defaultdict(set)
    for variables in _variables(template).values():
        for key, value in variables.items():
            said[key].add(_as_text(value))
    return [f"{key}: {sorted(values)}" for key, values in said.items() if len(values) > 1 and key not in OWN]


def variables_name_the_resource_that_they_are_called_after(template: Template) -> list[str]:
    """A nudge on the wrong queue reaches nobody, and a token that is signed with the wrong secret opens nothing."""
    urls = [name for name in Settings.model_fields if name.endswith("_queue_url")]
    queues = {url.upper(): {"Ref": "".join(part.capitalize() for part in url.split("_")[:-1])} for url in urls}
    violations = []
    for name, variables in _variables(template).items():
        wrong = [key for key, value in variables.items() if key in queues and value != queues[key]]
        wrong += [key for key, value in variables.items() if key in NAMES and arn(template, value) != NAMES[key]]
        violations += [f"{name}: {key} is {variables[key]}" for key in wrong]
    return violations


def functions_are_told_where_the_database_is(template: Template) -> list[str]:
    """All of them the same, but whoever migrates goes past the proxy."""
    values = template["Values"]
    own = {"Fn::GetAtt": ["Database", "Endpoint.Address"]}
    database: Any = values["RestoredDatabaseHost"] or values["ExistingDatabaseHost"] or own
    proxy = {"Fn::GetAtt": ["DatabaseProxy", "Endpoint"]} if of_type(template, "AWS::RDS::DBProxy") else database
    return [
        f"{name}: {variables.get('DATABASE_HOST')}"
        for name, variables in _variables(template).items()
        if variables.get("DATABASE_HOST") != (database if "MIGRATIONS_FOLDER" in variables else proxy)
    ]


def variables_follow_the_parameter_of_their_name(sam: Template) -> list[str]:
    """Reads the SAM template, because the translated one no longer knows which parameter a value came from."""
    common = sam["Globals"]["Function"]["Environment"]["Variables"]
    violations = []
    for name, each in of_type(sam, "AWS::Serverless::Function").items():
        for key, value in {**common, **each["Environment"]["Variables"]}.items():
            followed = [one for one in re.findall(r"'Ref': '(\w+)'", str(value)) if one in sam["Parameters"]]
            wanted = OTHERWISE_NAMED.get(key, ["".join(part.capitalize() for part in key.split("_"))])
            if followed != wanted and (followed or wanted[0] in sam["Parameters"]):
                violations.append(f"{name}: {key} is {value}")
    return violations


def services_are_called_after_their_doors(template: Template) -> list[str]:
    """Alarms and dashboards know them by this name."""
    given = {name: each.get("POWERTOOLS_SERVICE_NAME") for name, each in _variables(template).items()}
    return [f"{name}: {said}" for name, said in given.items() if f"functions/{said}" != folders()[name]]


def _variables(template: Template) -> dict[str, dict[str, Any]]:
    return {name: each.get("Environment", {}).get("Variables", {}) for name, each in of_type(template, FUNCTION).items()}


def _as_text(value: Any) -> str:
    match value:
        case str() | int():
            return str(value)
        case _:
            return f"of {named(value)}" if named(value) else str(value)
