"""What a producer may say of a user, wherever it is said. Pure."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from tocsin.foundation.fields import LANGUAGE, Closed, Matching, Name
from tocsin.people import addresses
from tocsin.people.time_zones import known_zone

Email = Annotated[str, AfterValidator(addresses.email)]
Phone = Annotated[str, AfterValidator(addresses.phone)]


class UserFields(Closed):
    email: Email | None = None
    phone: Phone | None = None
    username: Name | None = None
    locale: Annotated[str, Field(max_length=35), Matching(LANGUAGE, "a language, such as pt-BR")] | None = None
    timezone: Annotated[str, Field(max_length=50), AfterValidator(known_zone)] | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)
