"""Provider addresses: origins, and the addresses to which no request may be sent."""

import asyncio
import socket
from collections.abc import Iterator
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.domain.unicode_text import normalize

IP: TypeAlias = IPv4Address | IPv6Address

FORBIDDEN_NETWORKS: Final = tuple(
    map(
        ip_network,
        (
            "169.254.0.0/16",
            "fe80::/10",  # link-local; most clouds have their metadata service here
            "100.100.100.200/32",  # metadata of Alibaba Cloud
            "168.63.129.16/32",  # of Azure
            "192.0.0.192/32",
            "fd00:c1::a9fe:a9fe/128",  # of Oracle Cloud
            "fd00:ec2::/32",  # of AWS
            "fd20:ce::254/128",  # of Google Cloud
        ),
    )
)
FORBIDDEN_HOSTS: Final = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "instance-data",
        "instance-data.ec2.internal",
    }
)
IPV4_SUFFIX_NETWORKS: Final = tuple(
    map(
        ip_network,
        (
            "::/96",  # IPv4-compatible
            "::ffff:0:0:0/96",  # IPv4-translated (RFC 2765)
            "64:ff9b::/96",  # NAT64 (RFC 6052)
        ),
    )
)
LOCAL_NAT64: Final = ip_network("64:ff9b:1::/48")
"""Networks choose their own prefixes within it (RFC 8215)."""
ISATAP: Final = 0x5EFE
ISATAP_MASK: Final = 0xFCFF_FFFF
"""Ignores the "unique" and "group" bits of an interface identifier (RFC 5214)."""
DEFAULT_PORTS: Final = {"http": 80, "https": 443}
RESOLVE_TIMEOUT_S: Final = 2.0
CONTAINER_MARKS: Final = (Path("/.dockerenv"), Path("/run/.containerenv"))
"""Files that Docker and Podman put into each container."""
HOST_NAMES: Final = ("host.docker.internal", "host.containers.internal")
"""Names by which a container of Docker or Podman reaches the machine that runs it."""
BRIDGE_NETWORKS: Final = (IPv4Network("172.16.0.0/12"), IPv4Network("10.88.0.0/16"))
"""From these Docker and Podman take the networks that their own machine is the gateway of."""
ROUTES: Final = Path("/proc/net/route")


def parse_origin(url: str) -> str:
    """Return scheme, host and port of an address, or "" if it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    if not parts.scheme or not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port or DEFAULT_PORTS.get(parts.scheme, 0)}"


def find_refusal(url: str) -> LocalizedText | None:
    """Return why no request may be sent to an address as written; None if it may."""
    return format_address_refusal(url) if is_forbidden_host(parse_host(url)) else None


async def resolve_refusal(url: str) -> LocalizedText | None:
    """Return why no request may be sent to an address, including what its host name resolves to."""
    if refusal := find_refusal(url):
        return refusal
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(RESOLVE_TIMEOUT_S):
            found = await loop.getaddrinfo(parse_host(url), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError):
        return None  # each connection is checked again when it is made
    return (
        format_address_refusal(url)
        if any(is_forbidden_host(str(at[0])) for *_, at in found)
        else None
    )


def format_address_refusal(url: str) -> LocalizedText:
    """Return the error text for an address to which nothing is sent."""
    return localizable(
        "address_forbidden",
        f"{url} will not be used: such addresses belong to this machine's own network or its "
        "cloud provider, not to a model. Give the address of the model's server.",
        url=url,
    )


def parse_host(url: str) -> str:
    """Return the host of an address, or "" if it has none."""
    try:
        return urlsplit(normalize("NFKC", url)).hostname or ""
    except ValueError:
        return ""


def is_forbidden_host(host: str) -> bool:
    """Tell whether no request may be sent to a host, given as a name or an IP in any notation."""
    name = normalize("NFKC", host).replace("。", ".").rstrip(".").lower()
    if name in FORBIDDEN_HOSTS:
        return True
    address = find_ip(name)
    return address is not None and any(
        each.version == network.version and each in network
        for each in list_embedded_ips(address)
        for network in FORBIDDEN_NETWORKS
    )


def find_ip(host: str) -> IP | None:
    """Return the IP address that a host denotes, also in decimal, octal or hexadecimal notation."""
    without_zone = host.partition("%")[0]  # an IPv6 zone
    try:
        return ip_address(without_zone)
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(without_zone))
    except (OSError, ValueError):
        return None


def list_embedded_ips(ip: IP) -> Iterator[IP]:
    """Yield an address and the IPv4 addresses embedded in it."""
    yield ip
    if isinstance(ip, IPv4Address):
        return
    for each in (ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())):
        if each is not None:
            yield each
    bits = int(ip)
    if any(ip in network for network in IPV4_SUFFIX_NETWORKS) or bits >> 32 & ISATAP_MASK == ISATAP:
        yield IPv4Address(bits & 0xFFFF_FFFF)
    if ip in LOCAL_NAT64:
        yield from list_nat64_addresses(bits)


def list_nat64_addresses(bits: int) -> Iterator[IPv4Address]:
    """Yield the IPv4 address embedded in an IPv6 one, for each prefix length (RFC 6052, 2.2).

    Bits 64 to 71 belong to neither part.
    """
    without_gap = bits >> 64 << 56 | bits & (1 << 56) - 1
    for prefix in (48, 56, 64):
        yield IPv4Address(without_gap >> 88 - prefix & 0xFFFF_FFFF)
    yield IPv4Address(bits & 0xFFFF_FFFF)


def is_loopback(host: str) -> bool:
    """Tell whether a host can only be this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


@cache
def list_host_names() -> tuple[str, ...]:
    """Return the names of the machine that runs this container; () outside of one."""
    return HOST_NAMES if any(mark.exists() for mark in CONTAINER_MARKS) else ()


def list_host_gateways() -> tuple[str, ...]:
    """Return the hosts where the machine that runs this container may be; () outside of one.

    The default gateway is that machine on the bridge networks of Docker and Podman, and a router on
    others, which must not be asked.
    """
    names = list_host_names()
    gateway = find_default_gateway() if names else None
    is_bridge = gateway is not None and any(
        IPv4Address(gateway) in network for network in BRIDGE_NETWORKS
    )
    return (*names, gateway) if gateway is not None and is_bridge else names


def find_default_gateway() -> str | None:
    """Return the IPv4 address of the default gateway, by Linux's routing table."""
    try:
        rows = [line.split() for line in ROUTES.read_text().splitlines()]
    except OSError:
        return None
    for _, destination, gateway, *_ in (row for row in rows if len(row) > 2):
        if destination == "00000000" and gateway != "00000000":
            return str(IPv4Address(bytes.fromhex(gateway)[::-1]))  # in the byte order of the CPU
    return None


def is_this_machine(host: str) -> bool:
    """Tell whether a host can only be this machine, or the one that runs this container."""
    return is_loopback(host) or host in list_host_names()
