"""An address is known by its origin, and one that nobody should ask in every spelling."""

from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest

from oldfriend.llm import addresses
from oldfriend.llm.addresses import (
    find_refusal,
    is_forbidden_host,
    is_this_machine,
    list_host_gateways,
    list_host_names,
    parse_origin,
    resolve_refusal,
)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://API.openai.com/v1", "https://api.openai.com:443"),
        ("https://api.openai.com:443/other", "https://api.openai.com:443"),
        ("http://10.0.0.7:8000/v1", "http://10.0.0.7:8000"),
        ("http://[::1]:8/", "http://[::1]:8"),
        ("http://a:99999999/", ""),
        ("nothing", ""),
        ("", ""),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, origin: str) -> None:
    """Whatever the path, and with the usual port written out."""
    assert parse_origin(url) == origin


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:11434/v1",
        "http://127.0.0.1/v1",
        "http://[::1]:8/",
        "http://10.0.0.7/v1",
        "http://192.168.1.5/v1",
        "https://api.openai.com/v1",
        "http://169.253.1.1",
        "http://box/v1",
        "http://100.100.100.201/v1",
        "http://[fd12:3456::1]/v1",
        "http://169.254.example.com/v1",
    ],
)
async def test_local_and_provider_addresses_are_allowed(url: str) -> None:
    """On this machine, in one's own network, at a provider."""
    assert find_refusal(url) is None
    assert await resolve_refusal(url) is None


async def test_hostname_resolving_to_a_link_local_address_is_refused() -> None:
    """The resolver reads spellings that no parser of addresses takes."""
    refused = await resolve_refusal("http://0xa9fea9fe/v1")

    assert refused is not None
    assert refused.code == "address_forbidden"
    assert is_forbidden_host("fe80::1%eth0")


def mapped_to_ipv6(ipv4: str) -> dict[str, IPv6Address]:
    """Every way of writing an IPv4 address as an IPv6 one, by its name."""
    number = int(IPv4Address(ipv4))
    octets = number.to_bytes(4, "big")
    nat64 = bytes.fromhex("0064ff9b0001")
    whole = {
        "mapped": b"\0" * 10 + b"\xff\xff" + octets,
        "compatible": b"\0" * 12 + octets,
        "translated": b"\0" * 8 + b"\xff\xff\0\0" + octets,
        "NAT64": bytes.fromhex("0064ff9b") + b"\0" * 8 + octets,
        "local NAT64, /48": nat64 + octets[:2] + b"\0" + octets[2:] + b"\0" * 5,
        "local NAT64, /56": nat64 + b"\x7f" + octets[:1] + b"\0" + octets[1:] + b"\0" * 4,
        "local NAT64, /64": nat64 + b"\x7f\x7f\0" + octets + b"\0" * 3,
        "local NAT64, /96": nat64 + b"\0" * 6 + octets,
        "6to4": b"\x20\x02" + octets + b"\0" * 9 + b"\1",
        "Teredo, server": bytes.fromhex("20010000") + octets + b"\0\0\x12\x34\xf7\xf7\xf7\xf7",
        "Teredo, client": bytes.fromhex("20010000f7f7f7f700001234")
        + (number ^ 0xFFFF_FFFF).to_bytes(4, "big"),
        "ISATAP": bytes.fromhex("20010db80000000000005efe") + octets,
        "ISATAP, unique": bytes.fromhex("20010db80000000002005efe") + octets,
    }
    return {name: IPv6Address(each) for name, each in whole.items()}


@pytest.mark.parametrize("way", sorted(mapped_to_ipv6("0.0.0.0")))
@pytest.mark.parametrize("metadata", ["169.254.169.254", "100.100.100.200", "168.63.129.16"])
def test_cloud_metadata_address_is_refused_in_every_ipv6_form(way: str, metadata: str) -> None:
    """A translator may stand in the network; a model's own address may be written the same way."""
    assert is_forbidden_host(str(mapped_to_ipv6(metadata)[way]))
    assert find_refusal(f"http://[{mapped_to_ipv6(metadata)[way].exploded}]/v1") is not None
    assert not is_forbidden_host(str(mapped_to_ipv6("10.0.0.7")[way]))


ROUTES = """Iface\tDestination\tGateway\tFlags
eth0\t000011AC\t00000000\t0001
eth0\t00000000\t010011AC\t0003
"""


def test_a_container_beside_a_router_does_not_ask_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a network of the house the gateway is no machine with models."""
    mark, routes = tmp_path / ".dockerenv", tmp_path / "route"
    mark.touch()
    routes.write_text(ROUTES.replace("010011AC", "0101A8C0"))
    monkeypatch.setattr(addresses, "CONTAINER_MARKS", (mark,))
    monkeypatch.setattr(addresses, "ROUTES", routes)
    list_host_names.cache_clear()
    try:
        assert "192.168.1.1" not in list_host_gateways()
    finally:
        list_host_names.cache_clear()


@pytest.mark.parametrize("is_container", [True, False])
def test_container_host_gateways_are_listed_only_inside_a_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_container: bool
) -> None:
    """By its names; the default gateway may be a router, to which words leave the machine."""
    mark, routes = tmp_path / ".dockerenv", tmp_path / "route"
    routes.write_text(ROUTES)
    if is_container:
        mark.touch()
    monkeypatch.setattr(addresses, "CONTAINER_MARKS", (mark,))
    monkeypatch.setattr(addresses, "ROUTES", routes)
    list_host_names.cache_clear()
    try:
        gateways = list_host_gateways()
        named, router = map(is_this_machine, ("host.docker.internal", "172.17.0.1"))
    finally:
        list_host_names.cache_clear()

    names = ("host.docker.internal", "host.containers.internal")
    assert gateways == ((*names, "172.17.0.1") if is_container else ())
    assert (named, router) == (is_container, False)
