"""Where a request may go: the guard against SSRF, by the spelling of a URL and by the addresses its name has. Pure."""

import re
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network

MAX_URL = 500

_URL = re.compile(r"(https?)://([^/?#]*)([^#]*)", re.I)
_AUTHORITY = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]{1,5}))?")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"(?:{_LABEL}\.)*{_LABEL}")
# The last label begins with a letter, which no number does that a resolver would take for an IPv4 address: 127.1, 0x7f.1, 017.1.
_PUBLIC_NAME = re.compile(rf"(?:{_LABEL}\.)+(?=[a-z]){_LABEL}")
_PRIVATE_NAMES = (".localhost", ".local", ".internal", ".home.arpa")

# `ipaddress.is_global` is no help: it is True for NAT64, for IPv4 inside IPv6, for multicast and for more that leads inside.
_DENIED = [
    ip_network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
        *("192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
        *("224.0.0.0/4", "240.0.0.0/4"),
        *("::/8", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
        *("5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"),
    )
]


@dataclass(frozen=True, slots=True)
class Destination:
    """A URL, read once: whoever calls it reads it no second time, and so cannot read it in another way."""

    scheme: str
    host: str  # a name or an address without brackets, in lower case
    port: int
    authority: str  # as a server expects it in `Host`
    target: str


def check_url(url: str, *, allow_private: bool, longest: int = MAX_URL) -> Destination:
    """What may be called by its spelling alone; ValueError says what it must be. Its addresses are looked at when it is called.

    With `allow_private`, as in the local stack, http, IP addresses and names of one's own network are fine too.
    """
    if not 1 <= len(url) <= longest:
        raise ValueError(f"must have 1 to {longest} characters")
    if not re.fullmatch(r"[!-~]+", url):
        raise ValueError("must be printable ASCII without spaces")
    if "#" in url:
        raise ValueError("must have no fragment")
    if not (parts := _URL.fullmatch(url)) or not (allow_private or parts[1].lower() == "https"):
        raise ValueError(f"must begin with https://{' or http://' if allow_private else ''}")
    scheme, authority, target = parts[1].lower(), parts[2], parts[3]
    if "@" in authority:
        raise ValueError("must hold no user name or password")
    host, port = _read_authority(authority, 443 if scheme == "https" else 80)
    if not (_is_any_host(host) if allow_private else _is_public_name(host)):
        raise ValueError(f"must name {'a server' if allow_private else 'a public server by its DNS name, not by an IP address'}")
    return Destination(scheme, host.strip("[]"), port, authority, target if target.startswith("/") else f"/{target}")


def is_denied(address: str) -> bool:
    """Whether a resolved address leads, or might lead, to a place that the outside does not reach."""
    try:
        found = ip_address(address)
    except ValueError:
        return True
    if isinstance(found, IPv6Address):
        if found.scope_id is not None:
            return True
        found = found.ipv4_mapped or found
    return any(found.version == network.version and found in network for network in _DENIED)


def _read_authority(authority: str, usual_port: int) -> tuple[str, int]:
    parts = _AUTHORITY.fullmatch(authority)
    port = int(parts[2] or usual_port) if parts else 0
    if not parts or not 1 <= port <= 65_535:
        raise ValueError("must name a server, and a port from 1 to 65535 if any")
    return parts[1].lower(), port


def _is_public_name(host: str) -> bool:
    return bool(_PUBLIC_NAME.fullmatch(host)) and len(host) <= 253 and not f".{host}".endswith(_PRIVATE_NAMES)


def _is_any_host(host: str) -> bool:
    if host.startswith("["):
        try:
            return IPv6Address(host.strip("[]")).scope_id is None
        except ValueError:
            return False
    return bool(_NAME.fullmatch(host)) and len(host) <= 253
