"""Who may look and act: whoever opened the one-time link, from the page, until signed out."""

import pytest

from oldfriend.api.web_app import API_PREFIX
from oldfriend.memory.credentials import generate_api_token, save_api_token
from oldfriend.memory.people import get_person
from oldfriend.memory.web_sessions import MAX_SIGN_IN_ATTEMPTS
from tests.api.conftest import Browse, Site, say, sign_in
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY

OPEN_TO_ALL = {
    f"{API_PREFIX}/session": {"post"},
    f"{API_PREFIX}/session/passkey": {"post"},
    f"{API_PREFIX}/session/passkey/options": {"post"},
}


async def test_sign_in_link_opens_once_and_session_cookie_is_httponly(site: Site) -> None:
    """On each engine."""
    link = await site.link()
    async with site.stranger() as first, site.stranger() as second:
        opened = await first.post("/session", json={"link": link})
        again = await second.post("/session", json={"link": link})
        first.headers["X-CSRF-Token"] = opened.json()["token"]
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
async def test_sign_in_link_expires_after_ten_minutes_or_by_a_newer_one(
    site: Site, clock: FrozenClock
) -> None:
    """So that a link in a scrollback opens nothing."""
    replaced, late = await site.link(), await site.link()
    async with site.stranger() as browser:
        first = await browser.post("/session", json={"link": replaced})
        clock.tick(minutes=10)
        second = await browser.post("/session", json={"link": late})

    assert (first.status_code, second.status_code) == (401, 401)


async def test_sign_in_link_of_another_person_needs_confirmation_to_switch(
    site: Site, browse: Browse
) -> None:
    """On each engine: who is signed in stays so, and the link good, until they say go on."""
    owner = await browse()
    link = await site.link("Omar")
    asked = await owner.post("/session", json={"link": link})
    values = asked.json()["values"]
    wrong = [
        await owner.post("/session", json={"link": link, **given})
        for given in (
            {"person": values["person"]},
            {"person": values["instead_of"], "instead_of": values["instead_of"]},
            {"instead_of": values["instead_of"]},
        )
    ]
    still = await owner.get("/session")
    given = {key: values[key] for key in ("person", "instead_of")}
    signed = await owner.post("/session", json={"link": link, **given})
    before = await owner.get("/session")
    owner.headers["X-CSRF-Token"] = signed.json()["token"]
    after = await owner.get("/session")

    assert (asked.status_code, asked.json()["code"]) == (409, "link_opens_instead")
    assert (values["name"], values["signed_in"]) == ("Omar", "owner")
    assert {each.status_code for each in wrong} == {409}
    assert (still.json()["name"], signed.json()["name"], after.json()["name"]) == (
        "owner",
        "Omar",
        "Omar",
    )
    assert before.status_code == 401


@SQLITE_ONLY
async def test_guest_link_and_invitation_need_confirmation_but_owner_link_does_not(
    site: Site, browse: Browse
) -> None:
    """It is made on this machine alone; a guest's, and an invitation, can be in any hands."""
    owner = await browse()
    invited = (await owner.post("/invitations", json={"name": "Ana"})).json()
    async with site.stranger() as browser:
        own = await browser.post("/session", json={"link": await site.link()})
    codes = {}
    for name, link in {
        "Omar": await site.link("Omar"),
        "Ana": invited["link"].partition("#")[2],
    }.items():
        async with site.stranger() as browser:
            asked = await browser.post("/session", json={"link": link})
            signed = await sign_in(browser, link)
            codes[name] = [asked.status_code, asked.json().get("code"), signed.status_code]

    assert own.status_code == 200
    assert codes == {name: [409, "link_opens", 200] for name in ("Omar", "Ana")}


@SQLITE_ONLY
async def test_owner_link_needs_confirmation_while_a_guest_is_signed_in(
    site: Site, browse: Browse
) -> None:
    """And one's own, where one is signed in already, asks nothing."""
    guest = await browse("Omar")
    owners = await guest.post("/session", json={"link": await site.link()})
    own = await guest.post("/session", json={"link": await site.link("Omar")})

    assert (owners.status_code, own.status_code) == (409, 200)


@SQLITE_ONLY
async def test_sign_in_link_guessing_is_rate_limited_but_valid_link_works(site: Site) -> None:
    """For ten minutes; a right link opens all the same, so nobody keeps its owner out."""
    async with site.stranger() as browser:
        for guess in range(MAX_SIGN_IN_ATTEMPTS):
            await browser.post("/session", json={"link": f"guess {guess}"})
        refused = await browser.post("/session", json={"link": "one guess more"})
        right = await browser.post("/session", json={"link": await site.link()})

    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "601"
    assert "Wait 11 min" in refused.json()["detail"]
    assert right.status_code == 200


@SQLITE_ONLY
async def test_links_and_session_secrets_are_stored_only_as_hashes(
    site: Site, browse: Browse
) -> None:
    """Who reads the database cannot sign in."""
    link = await site.link()
    browser = await browse("Omar")
    (session,) = browser.cookies.values()
    async with site.app.db.begin_read() as tx:
        rows = await tx.rows("SELECT print FROM web_link UNION ALL SELECT print FROM web_session")

    assert len(rows) == 2
    assert not {link, session} & {row[0] for row in rows}


@SQLITE_ONLY
async def test_every_endpoint_without_a_session_answers_401(site: Site) -> None:
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
async def test_write_request_requires_csrf_token_and_own_origin(site: Site, browse: Browse) -> None:
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

    assert (without.status_code, foreign.status_code, embedded.status_code) == (401, 403, 403)
    assert named.status_code == 400


@SQLITE_ONLY
async def test_session_ends_on_sign_out_and_after_a_month_without_use(
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
async def test_every_response_has_a_strict_content_security_policy(site: Site) -> None:
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
async def test_oversized_sign_in_body_is_refused(site: Site, length: int | str) -> None:
    """Whether it says how long it is or not."""

    async def pieces():
        for _ in range(5):
            yield b" " * 1_000_000

    sent = b" " * length if isinstance(length, int) else pieces()
    async with site.stranger() as browser:
        answer = await browser.post("/session", content=sent)

    assert answer.status_code == 413


@SQLITE_ONLY
async def test_api_token_works_before_any_browser_session_exists(site: Site) -> None:
    """The companion is called as it is at first; it can be given a name, too."""
    async with site.app.db.begin_write() as tx:
        owner = await get_person(tx, None)
        secret, now = generate_api_token(), site.app.clock()
        await save_api_token(tx, owner.id, secret, name="script", scope="admin", days=1, now=now)
    async with site.stranger() as client:
        client.headers["Authorization"] = f"Bearer {secret}"
        before = [await client.get(path) for path in ("/state", "/persona", "/persona/name")]
        named = await client.put("/persona/name", json={"name": "Mira"})
        after = await client.get("/state")

    assert [each.status_code for each in (*before, named)] == [200, 200, 200, 200]
    assert [before[0].json()["companion"], before[1].json()["name"]] == ["Oldfriend", "Oldfriend"]
    assert after.json()["companion"] == "Mira"


@SQLITE_ONLY
@pytest.mark.parametrize("name", ["OWNER", "оwner", "Oldfriend", "OIdfriend", "owner (group)"])
async def test_guest_name_resembling_a_taken_name_is_refused(browse: Browse, name: str) -> None:
    """Neither by themselves nor by an invitation; the owner may be called owner again."""
    guest, owner = await browse("Omar"), await browse()
    renamed = await guest.patch("/me", json={"name": name})
    invited = await owner.post("/invitations", json={"name": name})
    own = [await owner.patch("/me", json={"name": each}) for each in ("Vera", "owner", "Owner")]

    assert [renamed.status_code, invited.status_code] == [422, 422]
    assert renamed.json()["code"] in {"name_like_group", "name_looks_taken"}
    assert renamed.json()["code"] == invited.json()["code"]
    assert [each.status_code for each in own] == [200, 200, 200]
