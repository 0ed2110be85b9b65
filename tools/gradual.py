"""`make deploy SHIFT=…`: aliases, whose new code gets a tenth of the traffic first, and the old one all of it if an alarm rings.

The template itself has no aliases. SAM publishes a version for one only when a function's own folder has changed, not when the
shared layer or a parameter has: whoever ran `sam deploy` by hand would go on with the old code and never know. Here each
deployment has a name of its own, which makes a version of every function, whatever has changed.
"""

import copy
import hashlib
from typing import Any

AT_ONCE = "AllAtOnce"
# Long enough for our alarms, which look at ten minutes.
SHIFTS = (
    AT_ONCE,
    "Canary10Percent15Minutes",
    "Canary10Percent30Minutes",
    "Linear10PercentEvery2Minutes",
    "Linear10PercentEvery3Minutes",
)
# environment of samconfig.toml: how new code takes over there unless SHIFT says otherwise; the others have no aliases
DEFAULT_SHIFTS = {"prod": "Canary10Percent15Minutes"}
# By what calls a function; a timer's only call a minute has no tenth. Whoever is called by HTTP has no alarm of the API, nor one
# that looks at dispatch, which knows the API's address: the API waits for the aliases, and these for their alarms.
ALARMS = {"HttpApi": ("HttpErrorsAlarm", "ManagementErrorsAlarm"), "SQS": ("QueueErrorsAlarm",)}


def gradual(template: dict[str, Any], shift: str, release: str) -> dict[str, Any]:
    """The SAM template with an alias for each function that answers requests or queues. `release` names this deployment and no
    other: it is in the functions' environment too, because Lambda publishes no second version of the same configuration."""
    changed = copy.deepcopy(template)
    for resource in changed["Resources"].values():
        properties = resource.get("Properties", {})
        kinds = {event["Type"] for event in properties.get("Events", {}).values()}
        if resource["Type"] == "AWS::Serverless::Function" and kinds & set(ALARMS):
            alarms = [alarm for kind in sorted(kinds & set(ALARMS)) for alarm in ALARMS[kind]]
            properties["Environment"]["Variables"]["RELEASE"] = release
            properties["AutoPublishAlias"] = "live"
            properties["AutoPublishCodeSha256"] = hashlib.sha256(release.encode()).hexdigest()
            watched = {} if shift == AT_ONCE else {"Alarms": [{"Ref": alarm} for alarm in alarms]}
            properties["DeploymentPreference"] = {"Type": shift, **watched}
    return changed
