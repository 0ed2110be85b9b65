"""A page of ours as an answer: with its one stylesheet inside, and a policy that lets nothing else in."""

import base64
import hashlib

from tocsin.http.door import Response

MEDIA_TYPES = ("text/html",)


def html_page(title: str, content: str, *, style: str) -> Response:
    """`content` is HTML; whoever writes it has escaped what came from elsewhere."""
    page = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
        <meta name="robots" content="noindex"><style>{style}</style><main><h1>{title}</h1>{content}</main></html>"""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Referrer-Policy": "no-referrer",
        "Content-Security-Policy": policy,
    }
    return Response(200, page, headers)
