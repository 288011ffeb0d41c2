"""A page becomes title and text, whatever its bytes try."""

import pytest

from oldfriend.domain.errors import FetchFailed
from oldfriend.sandbox.child_process import SandboxLimits
from oldfriend.web.page_reader import read_page
from tests.fakes.web_sites import Serve, page, redirect, web_sites

ARTICLE = (
    "<html><head><title>Tea and time</title></head><body><nav>Home Shop Basket</nav><article>"
    "<h1>Tea and time</h1><p>Green tea is steeped for two minutes at eighty degrees.</p>"
    "<p>Black tea takes four minutes, and boiling water.</p></article>"
    "<script>steal()</script></body></html>"
)


async def test_page_is_read_as_title_and_text() -> None:
    """Without scripts; the address is the one behind the redirects."""
    sites = {"tea.example": redirect("/tea"), "tea.example/tea": page(ARTICLE)}
    async with web_sites(sites) as web:
        read = await read_page(web.fetcher(), "http://tea.example/")

    assert (read.url, read.title) == ("http://tea.example/tea", "Tea and time")
    assert "two minutes at eighty degrees" in read.text
    assert "steal" not in read.text


async def test_plain_text_and_other_charsets_are_read() -> None:
    """As the server says, else as the page says."""
    latin = (
        '<html><head><meta charset="latin-1"><title>Été</title></head><body><p>Un été à la mer.</p>'
    )
    sites = {
        "a.example": page("Ein Tee für zwei.", content_type="text/plain; charset=utf-8"),
        "b.example": page(latin.encode("latin-1"), content_type="text/html"),
        "c.example": page(latin.encode("latin-1"), content_type="text/html; charset=nonsense"),
    }
    async with web_sites(sites) as web:
        plain = await read_page(web.fetcher(), "http://a.example/")
        others = [await read_page(web.fetcher(), f"http://{name}.example/") for name in "bc"]

    assert plain.text == "Ein Tee für zwei."
    assert [each.title for each in others] == ["Été", "Été"]


DEEP = "<div>" * 100_000 + "x"
TABLES = "<table><tr><td>" * 20_000


@pytest.mark.parametrize(
    "site",
    [
        page(""),
        page("<html></html>"),
        page(b"\x00\xff\xfe" * 1_000),
        page(DEEP),
        page(TABLES),
        page("<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><html><body><p>&a;</p>"),
    ],
    ids=["empty", "bare", "binary", "deep", "tables", "entity"],
)
async def test_hostile_page_ends_in_an_error_or_harmless_text(site: Serve) -> None:
    """Never in this process, and never with a file of this machine."""
    async with web_sites({"bad.example": site}) as web:
        try:
            read = await read_page(web.fetcher(), "http://bad.example/")
        except FetchFailed as error:
            assert error.reason == "unreadable"
        else:
            assert "root:" not in read.text


async def test_page_that_takes_too_much_ends_its_reader_alone() -> None:
    """Memory here; time is limited by the same process."""
    limits = SandboxLimits(memory_bytes=1 << 24, cpu_s=5)
    async with web_sites({"bad.example": page(ARTICLE)}) as web:
        with pytest.raises(FetchFailed) as failed:
            await read_page(web.fetcher(), "http://bad.example/", limits=limits)

    assert failed.value.reason == "unreadable"
