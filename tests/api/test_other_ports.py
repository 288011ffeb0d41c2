"""Another program on this machine, at another port: browsers hand it every cookie of localhost.

It may ask us over HTTP with that cookie and with any header it likes, and its pages may send a
browser here. What it lacks is what only our page holds.
"""

import hashlib

import httpx
import pytest

from tests.api.conftest import Browse, Site, events, say, sign_in
from tests.api.devices import Device
from tests.api.openapi import Operation, operations
from tests.api.test_attacks import everything, things_of
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY

OPEN_TO_ALL = {
    "POST /api/v1/session": "takes a link of its own",
    "POST /api/v1/session/passkey": "takes what a device has signed",
    "POST /api/v1/session/passkey/options": "says what a device is to sign",
}
"""What needs no session, and why."""
TOKEN = "X-CSRF-Token"


def neighbor(site: Site, browser: httpx.AsyncClient) -> httpx.AsyncClient:
    """A program that has a browser's cookies of this host, and claims to be our page."""
    return httpx.AsyncClient(
        base_url=f"{site.origin}/api/v1",
        cookies=dict(browser.cookies),
        timeout=20,
        headers={"Origin": site.origin, "Sec-Fetch-Site": "same-origin"},
        trust_env=False,
        verify=False,  # nothing is encrypted here, and loading certificates takes a while
    )


def forged(cookie: str, other: str) -> dict[str, str | None]:
    """What a neighbor may put in the place of what it lacks."""
    return {
        "nothing": None,
        "empty": "",
        "the cookie": cookie,
        "another's": other,
        "what was derived from the cookie before": hashlib.sha256(
            f"token for {cookie}".encode()
        ).hexdigest(),
        "its print": hashlib.sha256(cookie.encode()).hexdigest(),
    }


@pytest.mark.slow
@SQLITE_ONLY
async def test_stolen_cookie_without_csrf_token_gets_401_everywhere(
    site: Site, browse: Browse
) -> None:
    """Of every operation that there is: none is done, and no answer has anything of the owner's."""
    owner, omar = await browse(), await browse("Omar")
    things = await things_of(site, owner) | {
        "day": "2026-11-21",
        "month": "2026-11",
        "year": "2026",
        "block": "user",
        "use": "main",
        "provider": "openai",
        "name": "owner",
    }
    (cookie,) = owner.cookies.values()
    document = (await owner.get("/openapi.json")).json()
    every = [each for each in operations(document) if each.name not in OPEN_TO_ALL]
    before = await everything(owner)
    answers: dict[tuple[str, str], tuple[int, str]] = {}
    async with neighbor(site, owner) as thief:
        for what, shown in forged(cookie, omar.headers[TOKEN]).items():
            headers = {} if shown is None else {TOKEN: shown}
            for each in every:
                answer = await asked(thief, site, each, things, headers)
                answers[each.name, what] = (answer.status_code, answer.text)
    after = await everything(owner)

    assert len(every) > 60
    assert {name: told for name, told in answers.items() if told[0] != 401} == {}
    assert not {text for _, text in answers.values() if "Porto" in text or "Miso" in text}
    assert after == before


async def asked(
    client: httpx.AsyncClient,
    site: Site,
    each: Operation,
    things: dict[str, str],
    headers: dict[str, str],
) -> httpx.Response:
    """What comes of one operation."""
    ids = {**things, "message": things.get("reply", "")}
    return await client.request(
        each.method, site.origin + each.at(ids), json=each.example(), headers=headers
    )


@SQLITE_ONLY
async def test_csrf_token_is_sent_only_at_sign_in_and_not_stored(
    site: Site, browse: Browse
) -> None:
    """With the sign-in alone: not to who asks who is signed in, and not in the database."""
    owner = await browse()
    held = owner.headers[TOKEN]
    who = await owner.get("/session")
    async with site.app.db.begin_read() as tx:
        kept = [str(row) for row in await tx.rows("SELECT * FROM web_session")]

    assert who.status_code == 200
    assert who.json()["token"] == ""
    assert held not in who.text + str(who.headers)
    assert not [row for row in kept if held in row]
    assert held not in "".join(owner.cookies.values())


@SQLITE_ONLY
async def test_csrf_token_without_its_session_cookie_is_refused(site: Site, browse: Browse) -> None:
    """Nor with the cookie of another session."""
    owner, again, omar = await browse(), await browse(), await browse("Omar")
    async with site.stranger() as stranger:
        stranger.headers[TOKEN] = owner.headers[TOKEN]
        alone = await stranger.get("/session")
    crossed = [
        (await each.get("/session", headers={TOKEN: owner.headers[TOKEN]})).status_code
        for each in (again, omar)
    ]

    assert alone.status_code == 401
    assert crossed == [401, 401]


@SQLITE_ONLY
async def test_sign_in_with_a_stolen_cookie_does_not_end_that_session(
    site: Site, browse: Browse
) -> None:
    """Whoever signs in with a stolen cookie beside gets one of their own, and ends none."""
    owner = await browse()
    async with neighbor(site, owner) as thief:
        signed = await sign_in(thief, await site.link("Omar"))
    still = await owner.get("/session")

    assert signed.json()["name"] == "Omar"
    assert still.status_code == 200


@SQLITE_ONLY
@pytest.mark.parametrize("site_of_asker", ["same-site", "cross-site"])
@pytest.mark.parametrize("path", ["/export", "/chat/messages", "/openapi.json"])
async def test_cross_site_navigation_to_the_api_is_refused(
    browse: Browse, site_of_asker: str, path: str
) -> None:
    """A link or a form there would have the browser save what is somebody's."""
    owner = await browse()
    ticket = (await owner.post("/session/tickets", json={"purpose": "export"})).json()["ticket"]
    headers = {"Sec-Fetch-Site": site_of_asker, "Sec-Fetch-Mode": "navigate"}
    sent = await owner.get(path, params={"ticket": ticket}, headers=headers)

    assert sent.status_code == 403


@SQLITE_ONLY
async def test_cross_site_link_to_the_page_is_allowed(site: Site) -> None:
    """It says nothing of anybody."""
    async with site.stranger() as browser:
        del browser.headers["Origin"]
        led = await browser.get(
            f"{site.origin}/memory",
            headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
        )

    assert led.status_code == 200


@SQLITE_ONLY
async def test_export_ticket_is_single_use_short_lived_and_bound_to_its_session(
    site: Site, browse: Browse, clock: FrozenClock
) -> None:
    """With the cookie of the session that got it, for what it was got, within a minute."""
    owner, other = await browse(), await browse()

    async def ticket(purpose: str) -> dict[str, str]:
        made = await owner.post("/session/tickets", json={"purpose": purpose})
        assert made.status_code == 201, made.text
        return {"ticket": made.json()["ticket"]}

    once, wrong, late, theirs = [
        await ticket(each) for each in ("export", "sound", "export", "export")
    ]
    async with neighbor(site, owner) as page, neighbor(site, other) as elsewhere:
        first = await page.get("/export", params=once)
        second = await page.get("/export", params=once)
        misused = await page.get("/export", params=wrong)
        crossed = await elsewhere.get("/export", params=theirs)
        for path in ("/session", "/chat/messages", "/memories"):
            assert (await page.get(path, params=late)).status_code == 401
        clock.tick(minutes=1)
        over = await page.get("/export", params=late)
    async with site.stranger() as stranger:
        without = await stranger.get("/export", params=await ticket("export"))

    assert first.status_code == 200
    assert "attachment" in first.headers["content-disposition"]
    refused = [each.status_code for each in (second, misused, crossed, over, without)]
    assert refused == [401] * 5
    assert second.json()["code"] == "ticket_over"


@SQLITE_ONLY
async def test_tickets_are_issued_only_to_a_page_session_and_limited_in_number(
    site: Site, browse: Browse
) -> None:
    """A program has its token, and nobody piles them up."""
    owner = await browse()
    made = await owner.post("/tokens", json={"name": "x", "scope": "admin"})
    bearer = {"Authorization": f"Bearer {made.json()['token']}"}
    program = await owner.post("/session/tickets", json={"purpose": "export"}, headers=bearer)
    async with neighbor(site, owner) as thief:
        stolen = await thief.post("/session/tickets", json={"purpose": "export"})
    first = await owner.post("/session/tickets", json={"purpose": "export"})
    for _ in range(30):
        await owner.post("/session/tickets", json={"purpose": "sound"})
    oldest = await owner.get("/export", params=first.json())

    assert (program.status_code, stolen.status_code) == (409, 401)
    assert oldest.status_code == 401


@SQLITE_ONLY
async def test_session_without_csrf_hash_from_an_older_version_is_over(
    site: Site, browse: Browse
) -> None:
    """It has nothing that only the page holds: whoever has its cookie could go on with it."""
    owner = await browse()
    async with site.app.db.begin_write() as tx:
        await tx.run("UPDATE web_session SET page_print = NULL")
    over = await owner.get("/session")
    async with neighbor(site, owner) as thief:
        stolen = [
            (await thief.get("/session", headers={TOKEN: each})).status_code for each in ("", "x")
        ]

    assert over.status_code == 401
    assert "oldfriend link" in over.json()["detail"]
    assert stolen == [401, 401]


MAKES_A_WAY_IN = {
    "POST /api/v1/tokens",
    "POST /api/v1/tokens/{token}/renew",
    "POST /api/v1/passkeys",
    "POST /api/v1/passkeys/options",
    "POST /api/v1/invitations",
    "POST /api/v1/telegram/code",
}


@pytest.mark.slow
@SQLITE_ONLY
async def test_creating_credentials_requires_a_sign_in_within_ten_minutes(
    site: Site, browse: Browse, clock: FrozenClock
) -> None:
    """By a link or a passkey, within ten minutes; all else goes on, and is not asked for it."""
    owner = await browse()
    document = (await owner.get("/openapi.json")).json()
    ways = [each for each in operations(document) if each.name in MAKES_A_WAY_IN]
    clock.tick(minutes=9)
    in_time = await owner.post("/tokens", json={"name": "in time", "scope": "read"})
    clock.tick(minutes=1)
    late = {each.name: await asked(owner, site, each, {"token": "x"}, {}) for each in ways}
    goes_on = [(await owner.get("/tokens")).status_code, (await say(owner, "hello")).status_code]
    again = await owner.post("/session", json={"link": await site.link()})
    owner.headers[TOKEN] = again.json()["token"]
    fresh = await owner.post("/tokens", json={"name": "fresh", "scope": "admin"})

    assert in_time.status_code == 201
    assert late.keys() == MAKES_A_WAY_IN
    assert {name: each.status_code for name, each in late.items() if each.status_code != 403} == {}
    assert {each.json()["code"] for each in late.values()} == {"sign_in_again"}
    assert goes_on == [200, 202]
    assert fresh.status_code == 201


@SQLITE_ONLY
async def test_passkey_sign_in_counts_as_recent_and_replaces_the_session(
    site: Site, browse: Browse, clock: FrozenClock
) -> None:
    """The session that the browser had ends with it, in favor of the new one."""
    owner, device = await browse(), Device(site.origin)
    options = (await owner.post("/passkeys/options")).json()["options"]
    await owner.post("/passkeys", json={"credential": device.make(options), "name": "laptop"})
    clock.tick(minutes=11)
    stale = await owner.post("/invitations", json={"name": "Ana"})
    options = (await owner.post("/session/passkey/options")).json()["options"]
    signed = await owner.post("/session/passkey", json={"credential": device.sign(options)})
    owner.headers[TOKEN] = signed.json()["token"]
    fresh = await owner.post("/invitations", json={"name": "Ana"})

    assert (stale.status_code, signed.status_code, fresh.status_code) == (403, 200, 201)
    assert len((await owner.get("/sessions")).json()["items"]) == 1


@SQLITE_ONLY
async def test_event_stream_requires_the_csrf_token(site: Site, browse: Browse) -> None:
    """As all else does."""
    owner = await browse()
    async with neighbor(site, owner) as thief:
        refused = await thief.get("/chat/events")
    heard = await anext(events(owner))

    assert refused.status_code == 401
    assert heard.topic == "chat.connection.ready"


@pytest.mark.slow
@SQLITE_ONLY
async def test_rate_limited_wrong_secrets_do_not_block_valid_ones(
    site: Site, browse: Browse
) -> None:
    """Whatever a neighbor tries, links, passkeys and tokens that are right open, at once."""
    browser, device = await browse("Omar"), Device(site.origin)
    options = (await browser.post("/passkeys/options")).json()["options"]
    await browser.post("/passkeys", json={"credential": device.make(options), "name": "x"})
    made = await browser.post("/tokens", json={"name": "x", "scope": "read"})
    async with site.stranger() as thief:
        tried: dict[str, list[int]] = {"link": [], "passkey": [], "token": []}
        for number in range(30):
            bearer = {"Authorization": f"Bearer wrong {number}"}
            options = (await thief.post("/session/passkey/options")).json()["options"]
            signed = device.sign(options, wrong="signature")
            tried["token"].append((await thief.get("/state", headers=bearer)).status_code)
            tried["link"].append(
                (await thief.post("/session", json={"link": f"guess {number}"})).status_code
            )
            tried["passkey"].append(
                (await thief.post("/session/passkey", json={"credential": signed})).status_code
            )
    async with site.stranger() as owner:
        linked = await sign_in(owner, await site.link("Omar"))
        options = (await owner.post("/session/passkey/options")).json()["options"]
        signed = await owner.post("/session/passkey", json={"credential": device.sign(options)})
        bearer = {"Authorization": f"Bearer {made.json()['token']}"}
        program = await owner.get("/state", headers=bearer)

    assert {kind: set(codes[20:]) for kind, codes in tried.items()} == {
        "link": {429},
        "passkey": {429},
        "token": {429},
    }
    assert [linked.status_code, signed.status_code, program.status_code] == [200, 200, 200]


@SQLITE_ONLY
async def test_wrong_tokens_do_not_count_as_wrong_links(site: Site) -> None:
    """Who comes with a spent link is told so, and not that too much was tried."""
    async with site.stranger() as browser:
        for number in range(25):
            await browser.get("/state", headers={"Authorization": f"Bearer wrong {number}"})
        spent = await browser.post("/session", json={"link": "spent"})

    assert (spent.status_code, spent.json()["code"]) == (401, "link_spent")


@pytest.mark.slow
@SQLITE_ONLY
async def test_export_over_the_api_never_contains_other_persons_data(
    site: Site, browse: Browse
) -> None:
    """Not the owner either, whatever is asked for: the invitation says so."""
    owner, omar = await browse(), await browse("Omar")
    await say(omar, "Remember that my safe opens with 4711.")
    made = await owner.post("/tokens", json={"name": "x", "scope": "admin"})
    bearer = {"Authorization": f"Bearer {made.json()['token']}"}
    taken = [
        await owner.get("/export", params={"everybody": True}, headers=headers)
        for headers in ({}, bearer)
    ]
    document = (await owner.get("/openapi.json")).text

    assert [each.status_code for each in taken] == [200, 200]
    assert not [each for each in taken if "4711" in each.text]
    assert {each["name"] for each in operations_at(document, "/api/v1/export")} == {"ticket"}


def operations_at(document: str, path: str) -> list[dict[str, str]]:
    """What may be said when a path is asked for."""
    told: list[dict[str, str]] = httpx.Response(200, text=document).json()["paths"][path]["get"][
        "parameters"
    ]
    return told


@SQLITE_ONLY
@pytest.mark.parametrize(
    "path", ["/health", "/ready", "/metrics", "/", "/static/icon.svg", "/api/v1/state", "/nothing"]
)
@pytest.mark.parametrize("host", [None, "evil.example"])
async def test_every_response_has_security_headers(site: Site, path: str, host: str | None) -> None:
    """Also what looks after the house, and what is refused at the door."""
    async with site.stranger() as browser:
        headers = {} if host is None else {"Host": host}
        answer = await browser.get(f"{site.origin}{path}", headers=headers)

    assert (answer.status_code == 400) is (host is not None)
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["cache-control"] in {"no-store", "no-cache"}
