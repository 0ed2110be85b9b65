"""Faults by the dozen: each part of a kind that the template has is taken away in turn, or spoiled, and must be missed."""

from tests.template import absences_of_alarms as of_alarms
from tests.template import absences_of_edges as of_edges
from tests.template import absences_of_grants as of_grants
from tests.template import absences_of_identity as of_identity
from tests.template import absences_of_reach as of_reach
from tests.template import absences_of_roles as of_roles
from tests.template import absences_of_storage as of_storage
from tests.template import absences_of_switches as of_switches
from tests.template import absences_of_timing as of_timing
from tests.template import absences_of_variables as of_variables
from tests.template.faults import Fault

_KINDS = (of_grants, of_reach, of_edges, of_switches, of_alarms, of_roles, of_identity, of_timing, of_variables, of_storage)
FAULTS: tuple[Fault, ...] = tuple(fault for kind in _KINDS for fault in kind.faults())
