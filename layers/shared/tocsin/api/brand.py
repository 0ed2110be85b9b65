"""Brand: who writes, as people see it in their mail and on the pages that its links lead to."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field
from typing_extensions import TypedDict

from tocsin.content import keep_brand
from tocsin.content.keep_brand import Appearance
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, Matching
from tocsin.foundation.text import is_storable, one_line
from tocsin.http.door import Call, Endpoint, Response
from tocsin.people import addresses
from tocsin.people.user_fields import Email
from tocsin.store import brands
from tocsin.store.brands import BrandRow


def _line(text: str) -> str:
    if not is_storable(text) or one_line(text) != text:
        raise ValueError("must be one line of text")
    return text


def _lines(text: str) -> str:
    if not is_storable(text) or not one_line(text):
        raise ValueError("must be text")
    return text


def _https(url: str) -> str:
    if not url.lower().startswith("https://"):
        raise ValueError("must be an https address: mail programs show no other pictures")
    return "https" + addresses.web(url)[5:]


Line = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_line)]
Color = Annotated[str, Matching(r"#[0-9A-Fa-f]{6}", "a colour such as #2456a6"), AfterValidator(str.lower)]


class BrandBody(Closed):
    """The whole brand: what is not named is cleared."""

    name: Line | None = None
    logo_url: Annotated[str, Field(max_length=2_000), AfterValidator(_https)] | None = None
    color: Color | None = None
    postal_address: Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_lines)] | None = None
    reply_to: Email | None = None
    from_name: Line | None = None


class ShownBrand(TypedDict):
    """Who writes, as people see it. Without a name the tenant's own is shown."""

    name: str | None
    logo_url: str | None
    color: str | None
    postal_address: str | None
    reply_to: str | None
    from_name: str | None
    updated_at: datetime | None


def put_brand(call: Call) -> Response:
    body: BrandBody = call.request.parsed(BrandBody)
    return Response(200, _shown(keep_brand.keep(call.conn, call.actor, Appearance(**body.model_dump()))))


def get_brand(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        row = brands.find_row(call.conn, call.tenant_id)
    return Response(200, _shown(row))


def _shown(row: BrandRow | None) -> ShownBrand:
    return {
        "name": row.name if row else None,
        "logo_url": row.logo_url if row else None,
        "color": row.color if row else None,
        "postal_address": row.postal_address if row else None,
        "reply_to": row.reply_to if row else None,
        "from_name": row.from_name if row else None,
        "updated_at": row.updated_at if row else None,
    }


ENDPOINTS = [
    Endpoint("GET /v1/brand", "manage", get_brand, "Show the brand", answer=ShownBrand),
    Endpoint("PUT /v1/brand", "manage", put_brand, "Say how people see who writes", body=BrandBody, answer=ShownBrand),
]
