"""The caller's own policy and that of what is asked for, put together as AWS does within one account. Pure."""

from devstack.iam.asks import Ask
from devstack.iam.callers import Caller
from devstack.iam.conditions import Context
from devstack.iam.policies import Decision, Policy
from devstack.intrinsics import ACCOUNT


def refusal(caller: Caller, ask: Ask, of_resource: Policy | None) -> str | None:
    """Why not, in AWS's words; None when it is allowed."""
    context = known(caller, ask)
    own = caller.policy.decide(ask.action, ask.resource, context)
    if own is Decision.DENIED:
        return _words(caller, ask, "with an explicit deny in an identity-based policy")
    is_allowed = own is Decision.ALLOWED
    if of_resource is not None:
        everyone = of_resource.for_principals(caller.principals + caller.account)
        if everyone.decide(ask.action, ask.resource, context) is Decision.DENIED:
            return _words(caller, ask, "with an explicit deny in a resource-based policy")
        if ask.action.startswith("kms:") and caller.account:
            # A key is the account's to give away only where the key's own policy says so.
            by_account = of_resource.for_principals(caller.account).decide(ask.action, ask.resource, context)
            is_allowed = is_allowed and by_account is Decision.ALLOWED
        by_name = of_resource.for_principals(caller.principals).decide(ask.action, ask.resource, context)
        is_allowed = is_allowed or by_name is Decision.ALLOWED
    if is_allowed:
        return None
    kind = "identity" if caller.account else "resource"
    return _words(caller, ask, f"because no {kind}-based policy allows the {ask.action} action")


def known(caller: Caller, ask: Ask) -> Context:
    """What conditions can look at; a service also says for which resource it acts."""
    if caller.source_arn is None:
        return ask.context
    return {**ask.context, "aws:sourcearn": caller.source_arn, "aws:sourceaccount": ACCOUNT}


def _words(caller: Caller, ask: Ask, reason: str) -> str:
    return f"User: {caller.arn} is not authorized to perform: {ask.action} on resource: {ask.resource} {reason}"
