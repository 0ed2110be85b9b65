"""Faults by the dozen: each part of a kind that the template has is taken away in turn, or spoiled, and must be missed."""

from tests.template import absences_of_alarms, absences_of_edges, absences_of_grants, absences_of_reach, absences_of_switches
from tests.template.faults import Fault

FAULTS: tuple[Fault, ...] = (
    *(*absences_of_grants.faults(), *absences_of_reach.faults(), *absences_of_edges.faults()),
    *(*absences_of_switches.faults(), *absences_of_alarms.faults()),
)
