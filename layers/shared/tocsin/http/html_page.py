"""A page of ours as an answer: with its one stylesheet inside, and a policy that lets nothing else in."""

import base64
import hashlib

from tocsin.http.door import Response

MEDIA_TYPES = ("text/html",)


def html_page(
    title: str,
    content: str,
    *,
    style: str,
    heading: str | None = None,
    top: str = "",
    language: str = "en",
    image_origin: str = "",
    status: int = 200,
    headers: dict[str, str] | None = None,
) -> Response:
    """`content` and `top` (what stands above it) are HTML, as are the titles; whoever writes them has escaped what came from
    elsewhere. `image_origin` is where alone its pictures may come from."""
    first = heading or f"<h1>{title}</h1>"
    page = f"""<!doctype html><html lang="{language}"><meta charset="utf-8"><title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
        <meta name="robots" content="noindex"><style>{style}</style>{top}<main>{first}{content}</main></html>"""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    pictures = f"img-src {image_origin}; " if image_origin else ""
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; {pictures}form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    told = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Language": language,
        "Referrer-Policy": "no-referrer",
        "X-Robots-Tag": "noindex",
        "Content-Security-Policy": policy,
    }
    return Response(status, page, told | (headers or {}))
