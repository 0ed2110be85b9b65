"""Whether the package index answers, and if not, why in words and what to set."""

from __future__ import annotations

import os
import ssl
import urllib.error
import urllib.request
from base64 import b64encode
from http.client import HTTPException
from urllib.parse import unquote, urlsplit

from tools.pip_settings import PipSettings, without_password

PATIENCE = 10  # seconds for one answer
_ADVICE = """\
If you need another index or another way to it, set:
  another index     PIP_INDEX_URL=https://…/simple, or index-url in pip.conf
  a proxy           HTTPS_PROXY=http://…:3128{proxies}
  a certificate     PIP_CERT=/path/to/your/authority.pem
Nothing is lost: once it answers, run the same command again."""
_PROXIES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy")


def open_url(url: str, settings: PipSettings) -> bytes:
    """What stands there, by pip's own settings for the way."""
    parts = urlsplit(url)
    request = urllib.request.Request(without_password(url))  # noqa: S310 - pip's own setting
    if parts.username:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        request.add_header("Authorization", f"Basic {b64encode(pair.encode()).decode()}")
    context = ssl.create_default_context(cafile=settings.options.get("cert") or None)
    if parts.hostname in [each.partition(":")[0] for each in settings.options.get("trusted-host", "").split()]:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    proxy = settings.options.get("proxy")
    proxies = urllib.request.ProxyHandler({"http": proxy, "https": proxy} if proxy else None)
    opener = urllib.request.build_opener(proxies, urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(request, timeout=PATIENCE) as reply:
            content: bytes = reply.read()
    except urllib.error.HTTPError as error:
        error.close()
        raise
    return content


def fault(settings: PipSettings) -> str | None:
    """Why nothing comes from the index, in a sentence; None if it answers, or if there is none to ask."""
    if settings.uses_no_index or not settings.index.startswith("http"):
        return None
    try:
        open_url(f"{settings.index.rstrip('/')}/pip/", settings)
    except urllib.error.HTTPError as error:
        return f"The package index answers {error.code} ({error.reason}): {settings.shown_index}"
    except (OSError, HTTPException, ValueError) as error:
        return f"The package index cannot be reached ({_words(error)}): {settings.shown_index}"
    return None


def advice(settings: PipSettings) -> str:
    proxy = settings.options.get("proxy") or next((os.environ[name] for name in _PROXIES if os.environ.get(name)), "")
    return _ADVICE.format(proxies=f" (now {without_password(proxy)})" if proxy else "")


def _words(error: Exception) -> str:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"this machine does not trust its certificate: {cause.verify_message}"
    if isinstance(cause, TimeoutError):
        return f"no answer in {PATIENCE} seconds"
    return "nobody listens there" if isinstance(cause, ConnectionRefusedError) else str(cause)
