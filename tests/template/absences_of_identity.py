"""Everything that holds data is renamed in turn, or changed so that CloudFormation would replace it."""

from collections.abc import Iterator

from tests.template import checks_of_identity as identity
from tests.template.everything import fault, resources
from tests.template.faults import Fault

KEPT = identity.ALWAYS | identity.WITH_A_DATABASE | identity.WITH_EGRESS | identity.WITH_AN_ARCHIVE


def faults() -> Iterator[Fault]:
    for name, each in KEPT.items():
        yield fault(identity.what_holds_data_keeps_its_name, ("Resources", name))
        yield fault(identity.what_holds_data_keeps_its_name, ("Resources", f"{name}Two"), {"Type": each.kind})
        for key in each.properties:
            yield fault(
                identity.what_holds_data_is_not_replaced_by_the_way, ("Resources", name, "Properties", key), {"Ref": "Stage"}
            )
    yield fault(identity.what_holds_data_keeps_its_name, ("Stacks",), {})
    for kind, key in identity.UNNAMED.items():
        yield from (
            fault(identity.what_holds_data_is_named_by_cloudformation, ("Resources", name, "Properties", key), "x")
            for name in resources(kind)
        )
