"""How the account and its identities stand with SES: well, until somebody says otherwise (GetAccount, GetEmailIdentity)."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

from devstack.post_office.letters import RefusedError, Reply

DAILY_QUOTA = 50_000.0
STATUSES = ("PENDING", "SUCCESS", "FAILED", "TEMPORARY_FAILURE", "NOT_STARTED")
ENFORCEMENTS = ("HEALTHY", "PROBATION", "SHUTDOWN")


@dataclass(frozen=True, slots=True)
class Identity:
    """An address or a domain; the statuses are SES's own words."""

    status: str = "SUCCESS"
    dkim: str = "SUCCESS"

    def __post_init__(self) -> None:
        if self.status not in STATUSES or self.dkim not in STATUSES:
            raise ValueError(f"status and dkim must be one of {', '.join(STATUSES)}")


@dataclass(frozen=True, slots=True)
class Standing:
    """Every identity is verified, since mail from everybody is taken here, but for those that are named; None is missing."""

    production_access: bool = True
    sending_enabled: bool = True
    enforcement: str = "HEALTHY"
    daily_quota: float = DAILY_QUOTA
    identities: dict[str, Identity | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.enforcement not in ENFORCEMENTS:
            raise ValueError(f"enforcement must be one of {', '.join(ENFORCEMENTS)}")

    def changed(self, content: dict[str, Any]) -> "Standing":
        told = {name: Identity(**one) if one is not None else None for name, one in content.get("identities", {}).items()}
        return replace(self, **content | {"identities": self.identities | told})

    def account(self, *, sent: int) -> Reply:
        """GetAccount. Nothing here is older than a day."""
        quota = {"Max24HourSend": self.daily_quota, "MaxSendRate": 14.0, "SentLast24Hours": float(sent)}
        return _json(
            {
                "SendQuota": quota,
                "SendingEnabled": self.sending_enabled,
                "ProductionAccessEnabled": self.production_access,
                "EnforcementStatus": self.enforcement,
                "DedicatedIpAutoWarmupEnabled": False,
            }
        )

    def identity(self, name: str) -> Reply:
        """GetEmailIdentity."""
        known = self.identities.get(name, Identity())
        if known is None:
            body = json.dumps({"message": f"Email identity {name} does not exist."}).encode()
            raise RefusedError(Reply(404, body, "application/json", {"x-amzn-ErrorType": "NotFoundException"}))
        return _json(
            {
                "IdentityType": "EMAIL_ADDRESS" if "@" in name else "DOMAIN",
                "FeedbackForwardingStatus": True,
                "VerifiedForSendingStatus": known.status == "SUCCESS",
                "VerificationStatus": known.status,
                "DkimAttributes": {"SigningEnabled": known.dkim != "NOT_STARTED", "Status": known.dkim},
            }
        )


def _json(content: dict[str, Any]) -> Reply:
    return Reply(200, json.dumps(content).encode(), "application/json")
