"""Every variable of every function is taken away in turn, or has the value of another."""

from collections.abc import Iterator

from tests.template import checks_of_variables as variables
from tests.template.doors import folders
from tests.template.everything import Place, at, fault, resources
from tests.template.faults import Fault
from tests.unit.settings_read import OF_LIBRARIES

_WRONG = {"LEASE_SECONDS": "soon", "DATABASE_PORT": "postgres", "API_CALLS_PER_MINUTE": "0", "SOFT_BOUNCE_LIMIT": "0"}


def _of(function: str, *path: str | int) -> Place:
    return ("Resources", function, "Properties", "Environment", "Variables", *path)


def faults() -> Iterator[Fault]:
    for function in resources(variables.FUNCTION):
        given = at(_of(function))
        read = {field.upper() for field in variables.read_by_door(folders()[function])}
        for key, value in given.items():
            if key in OF_LIBRARIES:
                yield fault(variables.libraries_are_given_what_they_read, _of(function, key))
            elif key in read:
                yield fault(variables.functions_are_given_what_their_code_reads, _of(function, key))
            if key.endswith("_QUEUE_URL"):
                other = {"Ref": "IntakeQueue" if key != "INTAKE_QUEUE_URL" else "PlanQueue"}
                yield fault(variables.variables_name_the_resource_that_they_are_called_after, _of(function, key), other)
            if key in variables.NAMES:
                other = {"Ref": "AlarmTopic"} if key != "DATA_KEY_ARN" else {"Ref": "DataKey"}
                yield fault(variables.variables_name_the_resource_that_they_are_called_after, _of(function, key), other)
            if key in _WRONG:
                yield fault(variables.variables_can_be_used, _of(function, key), _WRONG[key])
            if key not in variables.OWN and sum(key in at(_of(each)) for each in resources(variables.FUNCTION)) > 1:
                yield fault(variables.variables_say_the_same_to_everybody, _of(function, key), f"other than {value}")
        yield fault(variables.functions_are_told_where_the_database_is, _of(function, "DATABASE_HOST"), {"Ref": "Database"})
        yield fault(variables.services_are_called_after_their_doors, _of(function, "POWERTOOLS_SERVICE_NAME"), "tocsin")
        yield fault(variables.variables_are_read_by_somebody, _of(function, "VERBOSITY"), "3")
