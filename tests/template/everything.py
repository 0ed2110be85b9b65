"""The template with everything that can be asked for, and faults in it: what a fault is planted into stands there already."""

from typing import Any

from tests.template import reading
from tests.template.faults import Fault

# With everything that can be asked for, so that everything there is stands.
EVERYTHING = {
    "Stage": "prod",
    "UseDatabaseProxy": "true",
    "MultiAz": "true",
    "PrivateEndpoints": "true",
    "EndpointsInBothZones": "true",
    "ReserveConcurrency": "true",
    "InternetEgress": "true",
    "AlarmEmail": "ops@example.com",
    "ApnsApplicationArn": "arn:aws:sns:us-east-1:account:app/APNS/ours",
    "FcmApplicationArn": "arn:aws:sns:us-east-1:account:app/GCM/ours",
    "ArchiveRecords": "true",
    "TriggerFunctionArns": "arn:aws:lambda:us-east-1:account:function:one,arn:aws:lambda:us-east-1:account:function:two:live",
}
Place = tuple[str | int, ...]


def fault(check: Any, place: Place, value: Any = None) -> Fault:
    return Fault(check, place, value, EVERYTHING)


def resources(kind: str) -> list[str]:
    return list(reading.of_type(reading.standing(**EVERYTHING), kind))


def at(place: Place) -> Any:
    node: Any = reading.standing(**EVERYTHING)
    for step in place:
        node = node[step]
    return node


def of(resource: str, *path: str | int) -> Place:
    """A place among the properties of a resource."""
    return ("Resources", resource, "Properties", *path)
