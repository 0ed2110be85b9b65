"""Every function works as another role in turn, and every secret is of somebody else."""

from collections.abc import Iterator

from tests.template import checks_of_roles as roles
from tests.template.everything import at, fault, of, resources
from tests.template.faults import Fault
from tests.template.reading import named

_SECRETS = {
    "AppDatabaseSecret": "tocsin_app",
    "WorkerDatabaseSecret": "tocsin_worker",
    "RetentionDatabaseSecret": "tocsin_retention",
}


def faults() -> Iterator[Fault]:
    check = roles.functions_work_as_the_role_that_their_work_needs
    for name in resources(roles.FUNCTION):
        variables = of(name, "Environment", "Variables")
        given = named(at(variables).get("DATABASE_SECRET_ARN"))
        for secret in _SECRETS:
            if secret != given:
                yield fault(check, (*variables, "DATABASE_SECRET_ARN"), {"Ref": secret})
    for variable in roles.PASSWORDS:
        place = of("MigrateFunction", "Environment", "Variables", variable)
        yield fault(roles.roles_get_the_password_that_their_users_have, place)
        yield fault(roles.roles_get_the_password_that_their_users_have, place, {"Ref": "UserTokenSecret"})
    for secret in _SECRETS:
        made = of(secret, "GenerateSecretString")
        yield fault(
            roles.roles_get_the_password_that_their_users_have, (*made, "SecretStringTemplate"), '{"username": "tocsin_owner"}'
        )
        yield fault(roles.secrets_are_long_and_written_as_they_are_read, (*made, "GenerateStringKey"), "secret")
        yield fault(roles.secrets_are_long_and_written_as_they_are_read, (*made, "PasswordLength"), 8)
