"""Each check is shown to work: a fault planted into the template makes that very check speak."""

import pytest

from tests.template import absences, checks, faults, faults_of_deployment, faults_of_names, reading
from tests.template.faults import Fault
from tests.template.planting import planted

ON_TRANSLATED = (*faults.ON_TRANSLATED, *faults_of_deployment.ON_TRANSLATED, *faults_of_names.ON_TRANSLATED)
RESERVED = {"ReserveConcurrency": "true"}  # so that what must hold of reservations can fail
ON_SAM = (*faults.ON_SAM, *faults_of_deployment.ON_SAM)


def _name(fault: Fault) -> str:
    return f"{fault.check.__name__}: {'.'.join(map(str, fault.place[1:]))}"


@pytest.mark.parametrize("fault", ON_TRANSLATED, ids=_name)
def test_a_planted_fault_is_reported_by_its_check(fault: Fault) -> None:
    sick = planted(reading.whole(), fault)
    parameters = {**RESERVED, **fault.parameters}

    assert fault.check(reading.standing(**parameters)) == []
    assert fault.check(reading.settled(sick, **parameters)) != []


@pytest.mark.parametrize("fault", absences.FAULTS, ids=_name)
def test_what_is_missing_is_missed(fault: Fault) -> None:
    healthy = reading.standing(**fault.parameters)

    assert fault.check(healthy) == []
    assert fault.check(planted(healthy, fault)) != []


@pytest.mark.parametrize("fault", ON_SAM, ids=_name)
def test_a_fault_planted_in_the_sources_is_reported_by_its_check(fault: Fault) -> None:
    healthy = fault.check(reading.sam_template())

    sick = fault.check(planted(reading.sam_template(), fault))

    assert set(sick) - set(healthy)


def test_no_check_goes_without_a_planted_fault() -> None:
    proven = {fault.check for fault in (*ON_TRANSLATED, *ON_SAM, *absences.FAULTS)}

    assert {check.__name__ for check in (*checks.ON_TRANSLATED, *checks.ON_SAM) if check not in proven} == set()
