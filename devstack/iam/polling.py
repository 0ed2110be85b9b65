"""Lambda takes no event source whose queue the function's role may not read; neither does the local stack."""

from devstack.declared import Declared
from devstack.iam import policies
from devstack.iam.asks import TLS
from devstack.iam.callers import key_id
from devstack.iam.policies import Decision
from devstack.iam.roles import RECEIVING
from devstack.intrinsics import TemplateError


def check_that_pollers_may_receive(declared: Declared) -> None:
    for source in declared.queue_sources:
        told = declared.rights["functions"][key_id(source.function)]
        policy = policies.read({"Statement": told["statements"]})
        for action in RECEIVING:
            if policy.decide(action, source.queue, TLS) is not Decision.ALLOWED:
                whose = f"{source.function} is given the messages of {source.queue}"
                raise TemplateError(f"{whose}, but its role {told['role']} does not allow {action}")
