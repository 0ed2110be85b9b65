"""docs/deploying.md says what the template says."""

import re
from functools import cache

from tests.template import reading
from tools import deploy

PAGE = (reading.ROOT / "docs" / "deploying.md").read_text()


def test_the_page_lists_every_parameter_with_its_default() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (?:`([^`]*)`|\*(required)\*)? ?\| .+ \|$", PAGE, re.MULTILINE)

    documented = {name: required or default for name, default, required in rows if name in _parameters()}

    assert documented == _parameters()


def test_the_page_has_them_in_the_order_of_the_console_and_what_to_think_about_first_apart() -> None:
    groups = reading.sam_template()["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    ordered = [name for group in groups for name in group["Parameters"]]
    first, rest = (
        re.findall(r"^\| `(\w+)` \|", each, re.MULTILINE) for each in PAGE.split("The rest has defaults that work")[:2]
    )

    assert sorted(ordered) == sorted(_parameters()), "each in one group"
    assert [name for name in first if name in _parameters()] == groups[0]["Parameters"]
    assert [name for name in rest if name in _parameters()][: len(ordered) - len(groups[0]["Parameters"])] == ordered[
        len(groups[0]["Parameters"]) :
    ]


def test_the_page_adds_the_connections_up() -> None:
    variable = ("Intake", "Inbox", "Live", "Wait", "Dispatch", "Webhook", "Trigger")
    shares = [int(_parameters()[f"{name}Concurrency"]) for name in variable]

    together = deploy.reserved(reading.sam_template(), {"ReserveConcurrency": "true"})
    fixed = together - sum(shares)

    said = f"{' + '.join(map(str, shares))} and {fixed} for the functions with fixed ones, {together} in all"
    assert said in " ".join(PAGE.split())
    assert f"twice the sum, {2 * together}, for as long" in " ".join(PAGE.split())
    assert reading.sam_template()["Parameters"]["DatabaseInstanceClass"]["Description"].endswith(
        f"sum of the seven concurrencies below, plus {fixed}."
    )


def test_the_page_says_which_functions_have_fixed_concurrencies() -> None:
    functions = reading.of_type(reading.sam_template(), "AWS::Serverless::Function").values()
    reserved = {
        each["CodeUri"].removeprefix("functions/"): each["ReservedConcurrentExecutions"]["Fn::If"][1] for each in functions
    }
    fixed = {name: number for name, number in reserved.items() if isinstance(number, int)}

    said = re.findall(r"(\d) each for ([a-z_, ]+)", " ".join(PAGE.split()))
    documented = {name: int(number) for number, names in said for name in re.findall(r"[a-z_]+", names) if name != "and"}

    assert documented == fixed


def test_the_page_names_only_outputs_that_exist() -> None:
    mentioned = set(re.findall(r"\$\(output (\w+)\)", PAGE)) | {"AlarmTopicArn"}

    assert mentioned <= set(reading.sam_template()["Outputs"])


def test_the_configuration_names_parameters_that_exist_and_neither_a_sender_nor_an_account() -> None:
    """A sender that is not yours would be deployed over the one you gave before; make deploy asks for it."""
    configuration = (reading.ROOT / "samconfig.toml").read_text()

    overrides = re.findall(r'^parameter_overrides = "(.*)"$', configuration, re.MULTILINE)
    given = [dict(pair.split("=", 1) for pair in each.split()) for each in overrides]

    assert len(given) == 2
    assert all(set(each) < set(_parameters()) - {"EmailFrom"} for each in given)
    assert not re.search(r"\d{12}", configuration)


def test_the_page_explains_every_variable_that_make_deploy_reads() -> None:
    explained = set(re.findall(r"^\| `([A-Z_]+)[=`]", PAGE, re.MULTILINE)) | {"PROFILE"}
    read = (reading.ROOT / "tools" / "deploy.py").read_text()

    asked = set(re.findall(r'(?:asked|environ)(?:\.get\(|\[)"([A-Z_]+)"', read)) - {"AWS_PROFILE", "AWS_REGION"}

    assert explained == asked


@cache
def _parameters() -> dict[str, str]:
    declared = reading.sam_template()["Parameters"].items()
    return {name: str(each.get("Default", "required")) for name, each in declared}
