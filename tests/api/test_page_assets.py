"""The files of the page: one version for all, compressed, with all modules that it begins with."""

import gzip
import re

import pytest
from starlette.requests import Request

from oldfriend.api.page_assets import (
    STATIC_DIR,
    STYLES,
    VERSIONED,
    build_page,
    compute_version,
    load_asset,
    serve_asset,
)


def test_page_names_its_version_and_the_bundle_of_its_place() -> None:
    """So that what draws a place is not found out only when the first script was read."""
    page = build_page("js/pages/memory.js")

    assert page.count("<script") == page.count("modulepreload") == 1
    assert f'"{VERSIONED}/{compute_version()}/js/pages/memory.js"' in page
    assert re.findall(r'"/static/(?!v/)', page) == []
    assert "modulepreload" not in build_page()


def test_style_sheets_are_one_file_in_their_order() -> None:
    """What comes later wins, as in the page without it."""
    body, packed, media_type = load_asset(STYLES)

    assert media_type == "text/css"
    assert gzip.decompress(packed) == body
    frame = (STATIC_DIR / "css" / "frame.css").read_bytes()
    assert body.startswith(frame)
    assert body.endswith((STATIC_DIR / "css" / "welcome.css").read_bytes())


@pytest.mark.parametrize("path", ["../web_app.py", "js/none.js", "x" * 30_000])
async def test_file_that_is_none_of_the_page_is_not_found_and_not_kept(path: str) -> None:
    """However it is written, so that nobody can fill the memory by asking."""
    kept = load_asset.cache_info().currsize
    found = await serve_asset("x", path, Request({"type": "http", "headers": []}))

    assert found.status_code == 404
    assert load_asset.cache_info().currsize == kept
