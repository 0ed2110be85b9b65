"""What a producer may say of a user, wherever it is said. Pure."""

import json
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from tocsin.foundation.fields import LANGUAGE, Closed, Matching, Name
from tocsin.people import addresses
from tocsin.people.time_zones import known_zone

Email = Annotated[str, AfterValidator(addresses.email)]
Phone = Annotated[str, AfterValidator(addresses.phone)]


MAX_ATTRIBUTES = 16 * 1024  # bytes as JSON: a page of 200 users must fit into an answer


def attributes_fit(attributes: dict[str, Any] | None) -> bool:
    return len(json.dumps(attributes or {}, ensure_ascii=False).encode()) <= MAX_ATTRIBUTES


def _bounded(attributes: dict[str, Any]) -> dict[str, Any]:
    if not attributes_fit(attributes):
        raise ValueError(f"must have at most {MAX_ATTRIBUTES} bytes as JSON")
    return attributes


Attributes = Annotated[dict[str, Any], AfterValidator(_bounded)]


class UserFields(Closed):
    email: Email | None = None
    phone: Phone | None = None
    username: Name | None = None
    locale: Annotated[str, Field(max_length=35), Matching(LANGUAGE, "a language, such as pt-BR")] | None = None
    timezone: Annotated[str, Field(max_length=50), AfterValidator(known_zone)] | None = None
    avatar_url: Annotated[str, Field(max_length=2_000), AfterValidator(addresses.web)] | None = None


class UserPatch(UserFields):
    """What is named is changed, null clears, the rest stays (JSON Merge Patch)."""

    attributes: Attributes | None = None
