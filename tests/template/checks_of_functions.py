"""What must hold of every function and of whatever invokes it without waiting."""

import json
import re

from tests.template.reading import ROOT, Template, listed, named, of_type
from tocsin.foundation import deadlines

FUNCTION = "AWS::Lambda::Function"
# One connection each. The smallest class that we recommend, db.t4g.small, has 2 GiB: RDS allows memory / 9,531,392 bytes, which
# is 225 of all of it and some 200 of what the system leaves. Of these 40 stay free, for RDS itself, for a person who looks, and
# for connections of environments that a deployment has just replaced.
DATABASE_CONNECTIONS = 160
LEAST_MEMORY = 512
# function: why it may have less
SMALL = dict.fromkeys(("LiveFunction", "WaitFunction"), "it waits, which bills by the memory and needs no processor")
# Lambda's limit for the policy that says who may call a function, and what one route takes of it with a long stack name.
CALLERS_POLICY, ONE_CALLER = 20480, 500
MOST_ROUTES = 40
RATE = re.compile(r"rate\((1 (minute|hour|day)|([2-9]|[1-9]\d+) (minutes|hours|days))\)|cron\(.+\)")
SECRET_NAME = re.compile(r"(?i)pass|secret|token|key")
STATEMENT_LIMIT = re.compile(r"ALTER ROLE (\w+) SET statement_timeout = '(\d+)s'")
API_WAITS = 29
PROVIDER_AND_MARGIN = 40


def functions_say_how_much_memory_and_time_they_need(template: Template) -> list[str]:
    return [
        f"{name}: memory {each.get('MemorySize')}, timeout {each.get('Timeout')}"
        for name, each in of_type(template, FUNCTION).items()
        if not each.get("Timeout") or int(each.get("MemorySize", 0)) < (256 if name in SMALL else LEAST_MEMORY)
    ]


def functions_run_python_on_arm64(template: Template) -> list[str]:
    return [
        f"{name}: {each.get('Runtime')} on {each.get('Architectures')}"
        for name, each in of_type(template, FUNCTION).items()
        if each.get("Architectures") != ["arm64"] or each.get("Runtime") != "python3.13"
    ]


def functions_are_traced(template: Template) -> list[str]:
    functions = of_type(template, FUNCTION).items()
    return [name for name, each in functions if each.get("TracingConfig", {}).get("Mode") != "Active"]


def functions_all_reserve_concurrency_or_none_does(template: Template) -> list[str]:
    functions = of_type(template, FUNCTION)
    without = [name for name, each in functions.items() if not each.get("ReservedConcurrentExecutions")]
    return without if len(without) < len(functions) else []


def functions_together_leave_connections_free(template: Template) -> list[str]:
    total = sum(each.get("ReservedConcurrentExecutions", 0) for each in of_type(template, FUNCTION).values())
    return [f"{total} connections reserved"] if total > DATABASE_CONNECTIONS else []


def functions_have_a_role_of_their_own(template: Template) -> list[str]:
    roles = {name: named(each.get("Role")) for name, each in of_type(template, FUNCTION).items()}
    return [name for name, role in roles.items() if role is None or list(roles.values()).count(role) > 1]


def functions_log_json_to_a_group_of_their_own(template: Template) -> list[str]:
    groups = of_type(template, "AWS::Logs::LogGroup")
    logging = {name: each.get("LoggingConfig", {}) for name, each in of_type(template, FUNCTION).items()}
    used = [named(each.get("LogGroup")) for each in logging.values()]
    return [
        name
        for name, each in logging.items()
        if each.get("LogFormat") != "JSON"
        or named(each.get("LogGroup")) not in groups
        or used.count(named(each.get("LogGroup"))) > 1
    ]


def functions_behind_http_answer_in_time(template: Template) -> list[str]:
    apis = str(of_type(template, "AWS::ApiGatewayV2::Api"))
    behind = [name for name in of_type(template, FUNCTION) if f"${{{name}.Arn}}" in apis]
    timeouts = {name: int(of_type(template, FUNCTION)[name]["Timeout"]) for name in behind}
    late = [f"{name}: {timeout} s" for name, timeout in timeouts.items() if timeout > API_WAITS]
    return late if behind else ["no function is behind HTTP"]


def functions_have_room_for_all_who_call_them(template: Template) -> list[str]:
    """SAM lets each route in by a statement of its own; too many of them fail only when they are deployed."""
    callers = [named(each["FunctionName"]) for each in of_type(template, "AWS::Lambda::Permission").values()]
    crowded = {name for name in of_type(template, FUNCTION) if callers.count(name) * ONE_CALLER > CALLERS_POLICY}
    return [f"{name}: {callers.count(name)} callers" for name in sorted(crowded)]


def doors_have_at_most_forty_routes(template: Template) -> list[str]:
    """So that the limit above is seen coming: beyond it a door is divided, by what its routes are for."""
    bodies = [each["Body"] for each in of_type(template, "AWS::ApiGatewayV2::Api").values()]
    routes = [json.dumps(route) for body in bodies for methods in body["paths"].values() for route in methods.values()]
    led = {name: sum(f"${{{name}.Arn}}" in route for route in routes) for name in of_type(template, FUNCTION)}
    return [f"{name}: {count} routes" for name, count in led.items() if count > MOST_ROUTES]


def functions_outlast_the_longest_statement_of_their_role(template: Template) -> list[str]:
    """Then a living server gives up on a statement before we give up on the server."""
    secrets = {
        "AppDatabaseSecret": "tocsin_app",
        "WorkerDatabaseSecret": "tocsin_worker",
        "RetentionDatabaseSecret": "tocsin_retention",
    }
    limits = {role: int(seconds) for role, seconds in STATEMENT_LIMIT.findall((ROOT / "migrations/setup/roles.sql").read_text())}
    late = [role for role, seconds in limits.items() if seconds >= deadlines.LONGEST_WAIT]
    for name, each in of_type(template, FUNCTION).items():
        secret = named(each.get("Environment", {}).get("Variables", {}).get("DATABASE_SECRET_ARN"))
        if secret and each["Timeout"] - deadlines.SPARE <= limits[secrets[secret]]:
            late.append(f"{name}: {each['Timeout']} s for statements of {limits[secrets[secret]]} s")
    return late


def leases_outlive_the_worker(template: Template) -> list[str]:
    return [
        f"{name}: {lease} s of lease for {each['Timeout']} s of work"
        for name, each in of_type(template, FUNCTION).items()
        if (lease := each.get("Environment", {}).get("Variables", {}).get("LEASE_SECONDS")) is not None
        and int(lease) < each["Timeout"] + PROVIDER_AND_MARGIN
    ]


def variables_hold_no_secrets(template: Template) -> list[str]:
    return [
        f"{name}.{variable}"
        for name, each in of_type(template, FUNCTION).items()
        for variable, value in each.get("Environment", {}).get("Variables", {}).items()
        if "{{resolve:" in str(value)
        or (SECRET_NAME.search(variable) and named(value) is None and not str(value).startswith("arn:"))
    ]


def asynchronous_functions_have_a_failure_destination(template: Template) -> list[str]:
    caught = {
        named(each["FunctionName"])
        for each in of_type(template, "AWS::Lambda::EventInvokeConfig").values()
        if each.get("DestinationConfig", {}).get("OnFailure", {}).get("Destination")
    }
    return [name for name in _invoked_asynchronously(template) if name not in caught]


def deliveries_have_a_dead_letter_queue(template: Template) -> list[str]:
    schedules = of_type(template, "AWS::Scheduler::Schedule")
    lost = [name for name, each in schedules.items() if not each["Target"].get("DeadLetterConfig", {}).get("Arn")]
    for name, each in of_type(template, "AWS::Events::Rule").items():
        lost += [name for target in each["Targets"] if not target.get("DeadLetterConfig", {}).get("Arn")]
    for name, each in of_type(template, "AWS::SNS::Subscription").items():
        if each["Protocol"] != "email" and not each.get("RedrivePolicy"):
            lost.append(name)
    return lost


def schedules_say_how_often_to_retry(template: Template) -> list[str]:
    schedules = of_type(template, "AWS::Scheduler::Schedule").items()
    wanted = {"MaximumRetryAttempts", "MaximumEventAgeInSeconds"}
    return [name for name, each in schedules if not wanted <= set(each["Target"].get("RetryPolicy", {}))]


def schedules_are_spelled_right(template: Template) -> list[str]:
    return [
        f"{name}: {each['ScheduleExpression']}"
        for name, each in of_type(template, "AWS::Scheduler::Schedule").items()
        if not RATE.fullmatch(each["ScheduleExpression"])
    ]


def schedules_do_not_collide_between_stacks(template: Template) -> list[str]:
    schedules = of_type(template, "AWS::Scheduler::Schedule").items()
    return [name for name, each in schedules if isinstance(each.get("Name"), str)]


def scheduled_functions_run_alone(template: Template) -> list[str]:
    functions = of_type(template, FUNCTION)
    targets = {named(each["Target"]["Arn"]) for each in of_type(template, "AWS::Scheduler::Schedule").values()}
    return [name for name in functions if name in targets and functions[name].get("ReservedConcurrentExecutions", 1) != 1]


def _invoked_asynchronously(template: Template) -> list[str]:
    called = [each["Target"]["Arn"] for each in of_type(template, "AWS::Scheduler::Schedule").values()]
    for each in of_type(template, "AWS::Events::Rule").values():
        called += [target["Arn"] for target in each["Targets"]]
    called += [each.get("Endpoint") for each in of_type(template, "AWS::SNS::Subscription").values()]
    for resource in template["Resources"].values():
        if resource["Type"].startswith("Custom::"):  # CloudFormation does not wait for the function either
            called += listed(resource["Properties"]["ServiceToken"])
    targets = {named(each) for each in called}
    return [name for name in of_type(template, FUNCTION) if name in targets]
