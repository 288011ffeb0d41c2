"""What is fetched is of the public web, within limits, whatever a server or a name says (SEC3)."""

import asyncio
import gzip
import zlib
from collections.abc import Sequence

import pytest

from oldfriend.domain.errors import FetchFailed
from oldfriend.web.public_addresses import is_public
from oldfriend.web.safe_fetch import JSON_TYPES, FetchRequest, WebFetcher
from tests.fakes.web_sites import PUBLIC, Serve, Write, page, redirect, web_sites

PRIVATE = (
    "127.0.0.1",
    "127.1.2.3",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "2002:7f00:1::1",
    "2001:0:7f00:1::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
)
NEVER_ASKED = (
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://0x7f.0.0.1/",
    "http://0x7f000001/",
    "http://127.1/",
    "http://0/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://localhost/",
    "http://localhost./",
    "http://LOCALHOST/",
    "http://a.localhost/",
    "http://printer.local/",
    "http://ⓛocalhost/",
    "http://127。0。0。1/",
    "http://metadata.google.internal/",
    "http://169.254.169.254/latest/meta-data",
    "http://site.example:8080/",
    "http://user:word@site.example/",
    "http://user@site.example/",
    "http://site.example\\@127.0.0.1/",
    "http://site.example/a b",
    "http://site.example/\r\nHost: x",
    "ftp://site.example/",
    "file:///etc/passwd",
    "gopher://site.example/",
    "javascript:alert(1)",
    "//site.example/",
    "http:///",
    "http://",
    "http://[",
    "http://site.example:99999/",
    "http://site.example/" + "a" * 3_000,
)


async def fetched(fetcher: WebFetcher, url: str, **details: object) -> bytes:
    """What an address serves."""
    return (await fetcher.fetch(FetchRequest(url=url, **details))).body


async def failure(fetcher: WebFetcher, url: str, **details: object) -> str:
    """Why an address is not read."""
    with pytest.raises(FetchFailed) as refused:
        await fetched(fetcher, url, **details)
    return refused.value.reason


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_set_apart_are_not_public(address: str) -> None:
    """In whatever form an IPv6 address holds them."""
    assert not is_public(address)


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"])
def test_addresses_of_the_web_are_public(address: str) -> None:
    """Also through the NAT64 of a network without IPv4."""
    assert is_public(address)


@pytest.mark.parametrize("url", NEVER_ASKED)
async def test_address_that_is_none_of_the_public_web_is_not_even_dialled(url: str) -> None:
    """However it is written."""
    async with web_sites({"site.example": page("hello")}) as web:
        assert await failure(web.fetcher(), url) in {"address", "unreachable"}
        assert web.dialled == []


@pytest.mark.parametrize("address", PRIVATE)
async def test_name_of_a_private_address_is_refused(address: str) -> None:
    """Even if only one of its addresses is private."""
    names = {"site.example": [PUBLIC, address]}
    async with web_sites({"site.example": page("hello")}, names) as web:
        assert await failure(web.fetcher(), "http://site.example/") == "address"
        assert web.dialled == []


async def test_name_is_resolved_once_and_the_checked_address_dialled() -> None:
    """A second answer (rebinding) changes nothing."""
    answers = iter([[PUBLIC], ["127.0.0.1"]])

    async def rebind(host: str, port: int) -> Sequence[str]:
        del host, port
        return next(answers)

    async with web_sites({"site.example": page("hello")}) as web:
        fetcher = WebFetcher(resolve=rebind, dial=web.dial)
        assert await fetched(fetcher, "http://site.example/") == b"hello"
        assert web.dialled == [PUBLIC]
        assert await failure(fetcher, "http://site.example/") == "address"


@pytest.mark.parametrize(
    "to",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.1/",
        "http://inside.example/",
        "//127.0.0.1/",
        "file:///etc/passwd",
        "http://other.example:22/",
    ],
)
async def test_each_redirect_is_checked(to: str) -> None:
    """A public site may send to a private one."""
    names = {"inside.example": ["10.0.0.1"]}
    async with web_sites({"site.example": redirect(to)}, names) as web:
        assert await failure(web.fetcher(), "http://site.example/") == "address"
        assert web.dialled == [PUBLIC]


async def test_redirects_are_followed_without_cookies_up_to_five() -> None:
    """Relative ones, too."""
    sites = {f"site.example/{n}": redirect(f"/{n + 1}") for n in range(9)}
    async with web_sites({**sites, "site.example/9": page("there")}) as web:
        found = await web.fetcher().fetch(FetchRequest(url="http://site.example/4#part"))
        assert (found.url, found.body) == ("http://site.example/9", b"there")
        assert "cookie" not in "".join(web.requests).lower()
        assert await failure(web.fetcher(), "http://site.example/3") == "redirects"


async def test_request_with_a_key_or_a_body_is_not_redirected() -> None:
    """They are for that address alone."""
    async with web_sites(
        {"a.example": redirect("http://b.example/"), "b.example": page("")}
    ) as web:
        for details in ({"headers": {"x-key": "secret"}}, {"body": b"{}"}):
            assert await failure(web.fetcher(), "http://a.example/", **details) == "redirects"
        assert len(web.requests) == 2


def drip(head: bytes, part: bytes, *, times: int, pause_s: float = 0.0) -> Serve:
    """Serve a part again and again."""

    async def serve(request: str, write: Write) -> None:
        del request
        await write(head)
        for _ in range(times):
            await write(part)
            await asyncio.sleep(pause_s)

    return serve


OK = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n"


@pytest.mark.parametrize(
    ("site", "reason"),
    [
        (drip(OK + b"\r\n", b"x", times=1_000, pause_s=0.05), "slow"),
        (drip(OK, b"x: y\r\n", times=1_000, pause_s=0.05), "slow"),
        (drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n", times=100), "unreadable"),
        (drip(OK, b"x-header: " + b"y" * 100 + b"\r\n", times=10_000), "unreadable"),
        (drip(OK + b"x: " + b"y" * 100_000, b"\r\n", times=2), "unreadable"),
        (drip(OK + b"\r\n", b"x" * 65_536, times=100), "large"),
        (drip(OK + b"content-length: 5\r\n\r\n", b"x", times=1), "unreadable"),
        (drip(b"nonsense\r\n\r\n", b"", times=1), "unreadable"),
        (page(b"\0" * (50 << 20), packed=True), "large"),
        (
            page(gzip.compress(b"x")[:-9] + b"\xff" * 9, headers="content-encoding: gzip\r\n"),
            "unreadable",
        ),
        (
            page(gzip.compress(b"x" * 99)[:-9], headers="content-encoding: gzip\r\n"),
            "unreadable",
        ),
        (redirect("http://[::1"), "unreadable"),
        (page("x", headers="content-encoding: br\r\n"), "unreadable"),
        (page("x", content_type="application/zip"), "kind"),
        (page("x", content_type=""), "kind"),
        (page("x", status="404 Not Found"), "status"),
        (page("x", status="206 Partial Content"), "status"),
    ],
)
async def test_what_cannot_be_read_within_limits_is_given_up(site: Serve, reason: str) -> None:
    """Slow drips, floods of headers, bombs and nonsense."""
    async with web_sites({"site.example": site}) as web:
        assert await failure(web.fetcher(total_s=2.0), "http://site.example/") == reason


async def test_bomb_in_zlib_form_is_unpacked_only_as_far_as_the_limit() -> None:
    """As many bytes as may be read, and one."""
    bomb = zlib.compress(b"\0" * (30 << 20))
    site = page(bomb, headers="content-encoding: deflate\r\n")
    async with web_sites({"site.example": site}) as web:
        assert await failure(web.fetcher(), "http://site.example/") == "large"


async def test_page_is_read_as_the_server_describes_it() -> None:
    """Packed or not; its type and charset in any case of letters."""
    site = page("hé".encode("latin-1"), content_type="Text/HTML; Charset=ISO-8859-1", packed=True)
    async with web_sites({"site.example": site}) as web:
        found = await web.fetcher().fetch(FetchRequest(url="HTTP://Site.Example/ä?q=ö"))

    assert (found.content_type, found.charset) == ("text/html", "iso-8859-1")
    assert found.body == "hé".encode("latin-1")
    assert web.requests[0].startswith("GET /%C3%A4?q=%C3%B6 HTTP/1.1\r\n")


async def test_server_named_in_the_settings_may_be_in_this_network_on_any_port() -> None:
    """A search engine of one's own; but where it sends to is no such server."""
    sites = {"127.0.0.1:8888": page("{}", content_type="application/json")}
    async with web_sites({**sites, "127.0.0.1:8888/away": redirect("http://127.0.0.1:9/")}) as web:
        own = {"trusted_origin": "http://127.0.0.1:8888", "content_types": JSON_TYPES}
        assert await fetched(web.fetcher(), "http://127.0.0.1:8888/search?q=x", **own) == b"{}"
        assert await failure(web.fetcher(), "http://127.0.0.1:8888/away", **own) == "address"
        assert await failure(web.fetcher(), "http://127.0.0.1:9999/", **own) == "address"
        trusted = {"trusted_origin": "http://169.254.169.254"}
        assert await failure(web.fetcher(), "http://169.254.169.254/", **trusted) == "address"


async def test_next_address_of_a_host_is_tried() -> None:
    """If the first takes no connection."""
    names = {"site.example": ["2606:4700::1", PUBLIC]}
    async with web_sites({"site.example": page("hello")}, names) as web:

        async def dial(address: str, target: object) -> object:
            if ":" in address:
                raise ConnectionRefusedError
            return await web.dial(address, target)

        fetcher = WebFetcher(resolve=web.resolve, dial=dial)
        assert await fetched(fetcher, "http://site.example/") == b"hello"
