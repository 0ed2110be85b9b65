"""Where a request may go: a table of spellings and of addresses, and what each of them is."""

import ipaddress
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.foundation.destinations import Destination, check_url, is_denied

FINE = [
    "https://hooks.example.com",
    "https://hooks.example.com/",
    "https://hooks.example.com/a/b?c=d&e=%2F",
    "https://hooks.example.com?c=d",
    "https://hooks.example.com:8443/x",
    "HTTPS://Hooks.Example.COM/X",
    "https://xn--bcher-kva.example/",
    "https://a.b",
    "https://10-0-0-1.example.com/",
    "https://127.0.0.1.nip.example/",  # its address is looked at when it is called
    "https://0x7f.example/",
    "https://local.example.com/",
    "https://internal.example.com/",
    "https://mylocalhost.example/",
    "https://hooks.example.com/to?next=http://169.254.169.254/@x",
    f"https://hooks.example.com/{'x' * 474}",
]

# What cannot be called in any installation.
SENSELESS = [
    "",
    "https",
    "https:",
    "https://",
    "https:///path",
    "https:hooks.example.com",
    "//hooks.example.com/",
    "hooks.example.com",
    "ftp://hooks.example.com/",
    "file:///etc/passwd",
    "gopher://hooks.example.com/",
    "javascript:alert(1)",
    " https://hooks.example.com/",
    "https://hooks.example.com/ x",
    "https://hooks.example.com/\r\nX: y",
    "https://hooks.example.com/\n",
    "https://hooks.example.com/\x00",
    "https://hooks.example.com/\x7f",
    "https://hooks.example.com/ü",
    "https://bücher.example/",
    "https://hooks.example.com/#part",
    "https://hooks.example.com#@169.254.169.254/",
    "https://user@hooks.example.com/",
    "https://user:secret@hooks.example.com/",
    "https://hooks.example.com@169.254.169.254/",
    "https://hooks.example.com\\@169.254.169.254/",
    "https://@hooks.example.com/",
    "https://hooks.example.com:/",
    "https://hooks.example.com:0/",
    "https://hooks.example.com:65536/",
    "https://hooks.example.com:443443/",
    "https://hooks.example.com:x/",
    "https://hooks.example.com:-1/",
    "https://hooks.example.com:80:80/",
    "https://hooks.example.com./",
    "https://hooks.example.com.:443/",
    "https://.example.com/",
    "https://hooks..example.com/",
    "https://./",
    "https://-hooks.example.com/",
    "https://hooks-.example.com/",
    "https://hooks_1.example.com/",
    f"https://{'a' * 64}.example.com/",
    f"https://{'a.' * 127}example/",
    "https://hooks.example.com%2f@x/",
    "https://%31%32%37.0.0.1/",
    "https://127%2e0%2e0%2e1/",
    "https://①②⑦.0.0.1/",
    "https://127。0。0。1/",
    "https://\uff11\uff12\uff17.0.0.1/",
    "https://[::1/",
    "https://::1/",
    "https://[::1]x/",
    "https://[fe80::1%25eth0]/",
    "https://[fe80::1%eth0]/",
    "https://[hooks.example.com]/",
    "https://[]/",
    f"https://hooks.example.com/{'x' * 475}",
]

# What can be called only where private destinations are allowed.
PRIVATE = [
    "http://hooks.example.com/",
    "HTTP://hooks.example.com/",
    "https://localhost/",
    "https://LocalHost/",
    "https://api.localhost/",
    "https://printer.local/",
    "https://printer.LOCAL/",
    "https://metadata.google.internal/",
    "https://ip-10-0-0-1.eu-west-1.compute.internal/",
    "https://nas.home.arpa/",
    "https://home.arpa/",
    "https://intranet/",
    "https://metadata/",
    "https://com/",
    "https://127.0.0.1/",
    "https://127.0.0.1:8443/",
    "https://169.254.169.254/latest/meta-data/",
    "https://169.254.170.2/v2/credentials",
    "https://8.8.8.8/",  # public, and an IP address all the same
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0X7F.0.0.1/",
    "https://0x7f.1/",
    "https://017700000001/",
    "https://0177.0.0.1/",
    "https://127.1/",
    "https://127.0.1/",
    "https://0/",
    "https://0.0.0.0/",
    "https://1.2.3.4.5/",
    "https://hooks.example.1/",
    "https://hooks.example.0x1/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:a9fe:a9fe]:443/",
    "https://[0:0:0:0:0:0:0:1]/",
    "https://[fd00:ec2::254]/",
    "https://[64:ff9b::a9fe:a9fe]/",
    "https://[2606:4700:4700::1111]/",
]


@pytest.mark.parametrize("url", FINE)
@pytest.mark.parametrize("allow_private", [False, True])
def test_a_public_servers_name_may_be_called(url: str, allow_private: bool) -> None:
    check_url(url, allow_private=allow_private)


@pytest.mark.parametrize("url", SENSELESS)
@pytest.mark.parametrize("allow_private", [False, True])
def test_what_has_more_than_one_reading_may_not(url: str, allow_private: bool) -> None:
    with pytest.raises(ValueError, match=r"^must "):
        check_url(url, allow_private=allow_private)


@pytest.mark.parametrize("url", PRIVATE)
def test_what_may_be_private_is_for_the_operator_to_allow(url: str) -> None:
    with pytest.raises(ValueError, match=r"^must "):
        check_url(url, allow_private=False)
    check_url(url, allow_private=True)


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("https://Hooks.Example.com", Destination("https", "hooks.example.com", 443, "Hooks.Example.com", "/")),
        ("https://a.example:8443?b=c", Destination("https", "a.example", 8443, "a.example:8443", "/?b=c")),
        ("HTTP://a.example/b?c", Destination("http", "a.example", 80, "a.example", "/b?c")),
        ("http://[::1]:80/", Destination("http", "::1", 80, "[::1]:80", "/")),
    ],
)
def test_what_was_checked_is_what_is_called(url: str, read: Destination) -> None:
    assert check_url(url, allow_private=True) == read


@given(st.text(alphabet=string.hexdigits + "xX.:[]%①。", max_size=40))
def test_no_spelling_of_an_ip_address_is_a_public_name(host: str) -> None:
    """Whatever passes ends in a label that begins with a letter; no resolver takes that for a number."""
    try:
        read = check_url(f"https://{host}/", allow_private=False).host
    except ValueError:
        return
    assert "." in read
    assert read.rpartition(".")[2][0].isalpha()
    with pytest.raises(ValueError, match="does not appear"):
        ipaddress.ip_address(read)


DENIED = [
    *("0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1"),  # noqa: S104 - nothing is bound
    *("127.255.255.255", "169.254.0.0", "169.254.169.254", "169.254.170.2", "169.254.255.255", "172.16.0.0", "172.31.255.255"),
    *("192.0.0.0", "192.0.0.170", "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255"),
    *("198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.0", "255.255.255.255"),
    *("::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "0:0:0:0:0:ffff:7f00:1"),
    *("::ffff:0:127.0.0.1", "ff::1", "64:ff9b::a9fe:a9fe", "64:ff9b::808:808", "64:ff9b:1::1", "64:ff9b:1:ffff::1"),
    *("100::1", "100:0:0:0:ffff::", "2001::1", "2001:1ff:ffff::", "2001:db8::1", "2002:7f00:1::", "2002:ffff::1"),
    *("3fff::1", "3fff:fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "febf::1"),
    *("fec0::1", "feff::1", "ff02::1", "ffff::1"),
    *("fe80::1%eth0", "2606:4700::1%1", "2606:4700::1%", "8.8.8.8%1"),
    *("", "localhost", "8.8.8", "0x7f.1", "08.8.8.8", "2130706433", "①②⑦.0.0.1", " 8.8.8.8", "8.8.8.8/32", "[::1]"),
]
PUBLIC = [
    *("1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0"),
    *("169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.88.98.255"),
    *("192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0"),
    *("203.0.112.255", "203.0.114.0", "223.255.255.255", "::ffff:8.8.8.8", "::ffff:808:808"),
    *("2606:4700:4700::1111", "2001:200::1", "2001:db7:ffff::1", "2001:db9::1", "2003::1", "2600:1f18::1", "3ffe::1"),
    *("3fff:1000::1", "100:0:0:1::1", "5eff::1", "5f01::1"),
]


@pytest.mark.parametrize("address", DENIED)
def test_what_leads_inside_is_denied(address: str) -> None:
    assert is_denied(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_what_stands_next_to_it_is_not(address: str) -> None:
    assert not is_denied(address)


@given(st.ip_addresses(v=4))
def test_an_address_inside_an_ipv6_address_is_the_same_address(address: ipaddress.IPv4Address) -> None:
    assert is_denied(f"::ffff:{address}") == is_denied(str(address))
    for around in ("::", "64:ff9b::"):
        assert is_denied(f"{around}{address}")


def test_the_table_is_not_short() -> None:
    assert len(SENSELESS) + len(PRIVATE) >= 60
    assert len(DENIED) >= 60
