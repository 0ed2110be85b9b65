"""As which role of the database each function works: with more rights it would see other tenants, with fewer nothing at all."""

import json
import re
from typing import Any

from tests.template.doors import folders
from tests.template.reading import ROOT, Template, named, of_type
from tests.template.wiring import function_of

FUNCTION, SECRET = "AWS::Lambda::Function", "AWS::SecretsManager::Secret"
APP, WORKER, RETENTION = "tocsin_app", "tocsin_worker", "tocsin_retention"
# Whoever serves HTTP is tocsin_app: what a stranger asks must never see another tenant, whatever is wrong with the code.
# door: the role of the others, and why
ROLES = {
    "functions/intake_queue": (APP, "what comes by queue is a stranger's too, and names its tenant"),
    "functions/dispatch": (WORKER, "claims what is due, whosever it is"),
    "functions/webhooks": (WORKER, "claims what is due, whosever it is"),
    "functions/triggers": (WORKER, "claims what is due, whosever it is"),
    "functions/feedback": (WORKER, "a provider's event names a message, and no tenant"),
    "functions/sweep": (WORKER, "looks for what is due, whosever it is"),
    "functions/retention": (RETENTION, "deletes what has outlived its rule, which no other may"),
}
# variable of whoever migrates: the role whose password it sets
PASSWORDS = {"APP_SECRET_ARN": APP, "WORKER_SECRET_ARN": WORKER, "RETENTION_SECRET_ARN": RETENTION}
_MADE = re.compile(r"ALTER ROLE (\w+) SET statement_timeout")
_OWNER = "DATABASE_ADMIN_SECRET_ARN"
LEAST_PASSWORD = 32


def functions_work_as_the_role_that_their_work_needs(template: Template) -> list[str]:
    served = _behind_http(template)
    violations = []
    for name, each in of_type(template, FUNCTION).items():
        door, variables = folders()[name], each["Environment"]["Variables"]
        wanted = None if _OWNER in variables else APP if name in served else ROLES.get(door, ("nobody said as whom", ""))[0]
        given = _username(template, variables.get("DATABASE_SECRET_ARN"))
        if given != wanted:
            violations.append(f"{name}: {given} instead of {wanted}")
    return violations


def roles_get_the_password_that_their_users_have(template: Template) -> list[str]:
    """The migration sets it, by the name that stands in the secret; every role that the setup makes has one."""
    made = set(_MADE.findall((ROOT / "migrations/setup/roles.sql").read_text()))
    violations = sorted(made ^ set(PASSWORDS.values()))
    for name, each in of_type(template, FUNCTION).items():
        variables = each["Environment"]["Variables"]
        if _OWNER in variables:
            found = {variable: _username(template, variables.get(variable)) for variable in PASSWORDS}
            violations += [
                f"{name}: {variable} is of {found[variable]}" for variable, role in PASSWORDS.items() if found[variable] != role
            ]
    return violations


def secrets_are_long_and_written_as_they_are_read(template: Template) -> list[str]:
    violations = []
    for name, each in of_type(template, SECRET).items():
        made = each.get("GenerateSecretString")
        if made is None:
            continue
        keys = json.loads(made.get("SecretStringTemplate", "{}"))
        is_unreadable = bool(keys) and (set(keys) != {"username"} or made.get("GenerateStringKey") != "password")
        if int(made.get("PasswordLength", 32)) < LEAST_PASSWORD or is_unreadable:
            violations.append(name)
    return violations


def _behind_http(template: Template) -> set[str | None]:
    return {
        function_of(template, route["x-amazon-apigateway-integration"]["uri"])
        for each in of_type(template, "AWS::ApiGatewayV2::Api").values()
        for methods in each["Body"]["paths"].values()
        for route in methods.values()
    }


def _username(template: Template, secret: Any) -> str | None:
    made = of_type(template, SECRET).get(str(named(secret)), {}).get("GenerateSecretString", {})
    username = json.loads(made.get("SecretStringTemplate", "{}")).get("username")
    return None if username is None else str(username)
