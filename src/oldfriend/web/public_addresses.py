"""Public addresses: tells which addresses of the web may be asked, and never one of this network.

A host is resolved here, and every address that it resolves to is looked at; whoever connects then
connects to exactly these, so that no second answer of a name server can change them.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final, TypeAlias
from urllib.parse import quote, urlsplit

from oldfriend.domain.errors import FetchFailed
from oldfriend.llm.addresses import IP, find_ip, is_forbidden_host, list_embedded_ips, parse_origin

MAX_URL_CHARS: Final = 2_000
PORTS: Final = {"http": 80, "https": 443}
SAFE_IN_TARGET: Final = "/%:@!$&'()*+,;=~-._?"
"""Characters of a path and query that stay as they are."""
LOCAL_SUFFIXES: Final = (".localhost", ".local", ".internal", ".home.arpa", ".onion")
PUBLIC_IPV6: Final = ip_network("2000::/3")
NAT64: Final = ip_network("64:ff9b::/96")
"""By it a network without IPv4 reaches the IPv4 addresses of the web (RFC 6052)."""
SPECIAL_NETWORKS: Final = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",  # behind the carrier's NAT
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/3",  # multicast, reserved, broadcast
            "2001::/23",  # Teredo and other protocols
            "2001:db8::/32",
            "2002::/16",  # 6to4
            "3fff::/20",
        ),
    )
)
"""What the registries set apart (RFC 6890), whatever the version of Python knows of it."""

Resolver: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the IP addresses of a host. Raises OSError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebTarget:
    """An address of the web in its parts."""

    scheme: str
    host: str  # in ASCII
    port: int
    path: str  # with the query

    @property
    def url(self) -> str:
        """Return the address as it is asked for."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def authority(self) -> str:
        """Return host and port as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def parse_target(url: str, *, trusted_origin: str | None = None) -> WebTarget:
    """Parse an address. Raises FetchFailed for one that is never asked.

    ``trusted_origin`` is an origin from the settings, which may have any port.
    """
    is_plain = all(each.isprintable() and not each.isspace() for each in url)
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname or ""
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    except (ValueError, UnicodeError) as error:
        raise refuse_address(url) from error
    if not is_plain or len(url) > MAX_URL_CHARS or parts.scheme not in PORTS or not host:
        raise refuse_address(url)
    if parts.username is not None or parts.password is not None or "\\" in url:
        raise refuse_address(url)
    target = WebTarget(
        scheme=parts.scheme,
        host=host.lower(),
        port=port or PORTS[parts.scheme],
        path=quote(parts.path or "/", safe=SAFE_IN_TARGET)
        + (f"?{quote(parts.query, safe=SAFE_IN_TARGET)}" if parts.query else ""),
    )
    if not is_trusted(target, trusted_origin) and target.port not in PORTS.values():
        raise refuse_address(url)
    return target


def refuse_address(url: str) -> FetchFailed:
    """Return the error for an address that is not asked."""
    return FetchFailed("address", f"{url[:200]!r} is no address of the public web.")


def is_trusted(target: WebTarget, trusted_origin: str | None) -> bool:
    """Tell whether an address belongs to an origin from the settings."""
    return trusted_origin is not None and parse_origin(target.url) == parse_origin(trusted_origin)


async def resolve_target(
    target: WebTarget, resolve: Resolver, *, trusted_origin: str | None = None
) -> list[str]:
    """Return the addresses to connect to. Raises FetchFailed if one of them may not be asked.

    An origin from the settings may be in this network, but never a place of forbidden ones.
    """
    name = target.host.rstrip(".")
    literal = find_ip(name)
    if literal is not None:
        found: Sequence[str] = [str(literal)]
    else:
        try:
            found = await resolve(target.host, target.port)
        except (OSError, UnicodeError) as error:
            raise FetchFailed("unreachable", f"{target.host} is not known.") from error
    if not found:
        raise FetchFailed("unreachable", f"{target.host} has no address.")
    if is_forbidden_host(name) or any(map(is_forbidden_host, found)):
        raise refuse_address(target.url)
    if not is_trusted(target, trusted_origin):
        is_local = name == "localhost" or name.endswith(LOCAL_SUFFIXES)
        if is_local or not all(map(is_public, found)):
            raise refuse_address(target.url)
    return list(dict.fromkeys(found))


def is_inner_target(target: WebTarget) -> bool:
    """Tell whether an address, as it is written, can never be one of the public web."""
    name = target.host.rstrip(".")
    literal = find_ip(name)
    if literal is not None and not is_public(str(literal)):
        return True
    return is_forbidden_host(name) or name == "localhost" or name.endswith(LOCAL_SUFFIXES)


def is_public(address: str) -> bool:
    """Tell whether an IP address, and each that is embedded in it, belongs to the public web."""
    try:
        ip = ip_address(address)  # one with an IPv6 zone is in this network
    except ValueError:
        return False
    if isinstance(ip, IPv6Address) and (ip.scope_id is not None or not is_global_ipv6(ip)):
        return False
    return all(map(is_unspecial, list_embedded_ips(ip)))


def is_global_ipv6(ip: IPv6Address) -> bool:
    """Tell whether an IPv6 address lies in the space of the web, or stands for an IPv4 one."""
    return ip in PUBLIC_IPV6 or ip in NAT64


def is_unspecial(ip: IP) -> bool:
    """Tell whether an address lies in no network that is set apart."""
    if any(ip.version == network.version and ip in network for network in SPECIAL_NETWORKS):
        return False
    is_nat64 = isinstance(ip, IPv6Address) and ip in NAT64  # some versions call it reserved
    return is_nat64 or (ip.is_global and not ip.is_multicast and not ip.is_reserved)


async def resolve_by_system(host: str, port: int) -> list[str]:
    """Resolve a host by the system's resolver. Raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]
