"""Who may look and act: whoever opened the one-time link, from the page, until signed out."""

import pytest

from oldfriend.memory.sign_in import MOST_ATTEMPTS
from oldfriend.web.site import API
from tests.clock import FrozenClock
from tests.conftest import SQLITE_ONLY
from tests.web.conftest import Browse, Site, say

OPEN_TO_ALL = {
    f"{API}/session": {"post"},
    f"{API}/session/passkey": {"post"},
    f"{API}/session/passkey/options": {"post"},
}


async def test_a_link_opens_once_and_the_session_is_out_of_reach_of_scripts(site: Site) -> None:
    """On each engine."""
    link = await site.link()
    async with site.stranger() as first, site.stranger() as second:
        opened = await first.post("/session", json={"link": link})
        again = await second.post("/session", json={"link": link})
        state = await first.get("/state")

    assert opened.status_code == 200
    assert opened.json()["is_owner"]
    cookie = opened.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert again.status_code == 401
    assert again.headers["content-type"] == "application/problem+json"
    assert "oldfriend link" in again.json()["detail"]
    assert state.json()["companion"] == "Oldfriend"


@SQLITE_ONLY
async def test_a_link_is_good_for_ten_minutes_and_a_newer_one_replaces_it(
    site: Site, clock: FrozenClock
) -> None:
    """So that a link in a scrollback opens nothing."""
    replaced, late = await site.link(), await site.link()
    async with site.stranger() as browser:
        first = await browser.post("/session", json={"link": replaced})
        clock.tick(minutes=10)
        second = await browser.post("/session", json={"link": late})

    assert (first.status_code, second.status_code) == (401, 401)


@SQLITE_ONLY
async def test_guessing_ends_soon(site: Site) -> None:
    """Nor does a right link open then, until ten minutes have passed."""
    async with site.stranger() as browser:
        for guess in range(MOST_ATTEMPTS):
            await browser.post("/session", json={"link": f"guess {guess}"})
        refused = await browser.post("/session", json={"link": await site.link()})

    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "601"
    assert "Wait 11 min" in refused.json()["detail"]


@SQLITE_ONLY
async def test_neither_links_nor_sessions_are_kept_as_they_are(site: Site, browse: Browse) -> None:
    """Who reads the database cannot sign in."""
    link = await site.link()
    browser = await browse("Omar")
    (session,) = browser.cookies.values()
    async with site.house.db.reading() as tx:
        rows = await tx.rows("SELECT print FROM web_link UNION ALL SELECT print FROM web_session")

    assert len(rows) == 2
    assert not {link, session} & {row[0] for row in rows}


@SQLITE_ONLY
async def test_without_a_session_nothing_is_told(site: Site) -> None:
    """Every route there is, as the API describes itself."""
    async with site.stranger() as browser:
        paths = (await browser.get("/openapi.json")).json()["paths"]
        asked = [
            (path, method, await browser.request(method, site.origin + path.replace("{", "x")))
            for path, methods in paths.items()
            for method in methods
            if method not in OPEN_TO_ALL.get(path, set())
        ]

    assert len(asked) > 12
    assert {
        (path, answer.status_code) for path, _, answer in asked if answer.status_code != 401
    } == (set())


@SQLITE_ONLY
async def test_what_changes_something_needs_the_token_and_the_origin(
    site: Site, browse: Browse
) -> None:
    """Another page can do neither, whatever cookie is sent along."""
    browser = await browse()
    token = browser.headers["X-CSRF-Token"]
    browser.headers["X-CSRF-Token"] = "none"
    without = await say(browser, "hello")
    browser.headers["X-CSRF-Token"] = token
    browser.headers["Origin"] = "http://evil.example"
    foreign = await say(browser, "hello")
    browser.headers["Origin"] = site.origin
    browser.headers["Sec-Fetch-Site"] = "cross-site"
    embedded = await browser.get("/chat/messages")
    named = await browser.get("/chat/messages", headers={"Host": "evil.example"})

    assert (without.status_code, foreign.status_code, embedded.status_code) == (403, 403, 403)
    assert named.status_code == 400


@SQLITE_ONLY
async def test_signing_out_ends_the_session_and_a_month_does(
    browse: Browse, clock: FrozenClock
) -> None:
    """Also for whoever has kept the cookie."""
    leaving, staying = await browse(), await browse()
    kept = dict(leaving.cookies)
    assert (await leaving.delete("/session")).status_code == 204
    leaving.cookies.update(kept)
    left = await leaving.get("/session")
    clock.tick(minutes=29 * 24 * 60)
    renewed = await staying.get("/session")
    clock.tick(minutes=29 * 24 * 60)
    still = await staying.get("/session")
    clock.tick(minutes=31 * 24 * 60)
    over = await staying.get("/session")

    assert [each.status_code for each in (left, renewed, still, over)] == [401, 200, 200, 401]


@SQLITE_ONLY
async def test_nothing_comes_from_elsewhere_and_nothing_foreign_runs(site: Site) -> None:
    """What every answer says of itself, also where there is nothing."""
    async with site.stranger() as browser:
        answers = [
            await browser.get(f"{site.origin}{path}")
            for path in (
                "/",
                "/static/css/frame.css",
                "/api/v1/state",
                "/nothing",
                "/static/../site.py",
            )
        ]

    assert [each.status_code for each in answers] == [200, 200, 401, 404, 404]
    for each in answers:
        policy = each.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert each.headers["x-content-type-options"] == "nosniff"
        assert each.headers["referrer-policy"] == "no-referrer"


@SQLITE_ONLY
@pytest.mark.parametrize("length", [5_000_000, "many"])
async def test_nothing_endless_is_read(site: Site, length: int | str) -> None:
    """Whether it says how long it is or not."""

    async def pieces():
        for _ in range(5):
            yield b" " * 1_000_000

    sent = b" " * length if isinstance(length, int) else pieces()
    async with site.stranger() as browser:
        answer = await browser.post("/session", content=sent)

    assert answer.status_code == 413
