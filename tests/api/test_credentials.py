"""By what one comes in, and what ends it: tokens, passkeys, sessions, invitations."""

import asyncio
from contextlib import asynccontextmanager

import httpx
import pytest

from oldfriend.channels.channel import ChatRef
from oldfriend.inbound.account_linking import ensure_group
from oldfriend.memory.credentials import MAX_CHALLENGES, insert_challenge
from oldfriend.memory.people import list_people
from oldfriend.memory.web_sessions import MAX_SIGN_IN_ATTEMPTS, record_failed_sign_in
from tests.api.conftest import Browse, Site, events, say, sign_in, until_topic
from tests.api.devices import Device
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY

DAY_MIN = 24 * 60


@asynccontextmanager
async def program(site: Site, token: str):
    """A program with a token: no cookie, no Origin, no X-CSRF-Token."""
    async with httpx.AsyncClient(
        base_url=f"{site.origin}/api/v1",
        headers={"Authorization": f"Bearer {token}"},
        timeout=20,
        trust_env=False,
        verify=False,  # nothing is encrypted here, and loading certificates takes a while
    ) as client:
        yield client


async def token_for(browser: httpx.AsyncClient, scope: str, *, days: int = 30) -> dict[str, str]:
    """A new token."""
    made = await browser.post("/tokens", json={"name": "script", "scope": scope, "days": days})
    assert made.status_code == 201, made.text
    return made.json()


@pytest.mark.slow
async def test_api_token_is_limited_to_its_scope(site: Site, browse: Browse) -> None:
    """On each engine: look, talk, decide about keys; shown once, its use noted, and it ends."""
    browser = await browse()
    tokens = {scope: await token_for(browser, scope) for scope in ("read", "write", "admin")}
    answers: dict[str, list[int]] = {}
    for scope, made in tokens.items():
        async with program(site, made["token"]) as client:
            answers[scope] = [
                (await client.get("/chat/messages")).status_code,
                (await say(client, f"hello with {scope}")).status_code,
                (await client.get("/tokens")).status_code,
                (await client.post("/invitations", json={"name": f"{scope} guest"})).status_code,
                (await client.delete("/session")).status_code,
                (await client.post("/telegram/code")).status_code,
                (await client.delete("/telegram/mine")).status_code,
            ]
    listed = (await browser.get("/tokens")).json()["items"]
    await browser.delete(f"/tokens/{tokens['admin']['id']}")
    async with program(site, tokens["admin"]["token"]) as client:
        ended = await client.get("/chat/messages")

    assert answers["read"] == [200, 403, 403, 403, 403, 403, 403]
    assert answers["write"] == [200, 202, 403, 403, 409, 403, 403]
    assert answers["admin"] == [200, 202, 200, 201, 409, 201, 404]
    assert {each["used_at"] is None for each in listed} == {False}
    assert not any("token" in each for each in listed)
    assert ended.status_code == 401
    async with site.app.db.begin_read() as tx:
        kept = {row[0] for row in await tx.rows("SELECT print FROM web_token")}
    assert not kept & {each["token"] for each in tokens.values()}


@SQLITE_ONLY
async def test_a_renewed_token_has_a_new_secret_and_is_else_the_same(
    site: Site, browse: Browse, clock: FrozenClock
) -> None:
    """The old secret ends at once; nobody else can renew it."""
    browser, omar = await browse(), await browse("Omar")
    made = await token_for(browser, "write")
    foreign = await omar.post(f"/tokens/{made['id']}/renew")
    clock.tick(minutes=5)
    renewed = (await browser.post(f"/tokens/{made['id']}/renew")).json()
    answers = []
    for each in (made, renewed):
        async with program(site, each["token"]) as client:
            answers.append((await client.get("/chat/messages")).status_code)

    assert foreign.status_code == 404
    assert answers == [401, 200]
    assert renewed["token"] != made["token"]
    assert renewed["expires_at"] > made["expires_at"]
    assert {key: renewed[key] for key in ("id", "name", "scope", "is_hosted")} == {
        "id": made["id"],
        "name": "script",
        "scope": "write",
        "is_hosted": False,
    }


@SQLITE_ONLY
async def test_only_one_of_the_renewals_at_one_time_gives_a_secret(
    site: Site, browse: Browse, clock: FrozenClock
) -> None:
    """Which works; the others are told so."""
    browser = await browse()
    made = await token_for(browser, "write")
    clock.tick(minutes=5)
    path = f"/tokens/{made['id']}/renew"
    async with asyncio.TaskGroup() as group:
        sent = [group.create_task(browser.post(path)) for _ in range(4)]
    answers = [each.result() for each in sent]

    (renewed,) = [each.json() for each in answers if each.status_code == 200]
    assert sorted(each.status_code for each in answers) == [200, 409, 409, 409]
    async with program(site, renewed["token"]) as client:
        assert (await client.get("/chat/messages")).status_code == 200


@SQLITE_ONLY
async def test_expired_or_unknown_api_token_is_refused(
    site: Site, browse: Browse, clock: FrozenClock
) -> None:
    """And what never was one opens nothing, nor a cookie beside it."""
    browser = await browse()
    made = await token_for(browser, "read", days=1)
    async with program(site, made["token"]) as client:
        before = await client.get("/session")
        clock.tick(minutes=DAY_MIN)
        after = await client.get("/session")
    browser.headers["Authorization"] = "Bearer none"
    beside = await browser.get("/session")

    assert before.json()["name"] == "owner"
    assert before.json()["token"] == ""
    assert [after.status_code, beside.status_code] == [401, 401]


@SQLITE_ONLY
async def test_api_token_guessing_is_rate_limited_but_valid_token_works(
    site: Site, browse: Browse
) -> None:
    """Whoever guesses is told when to come back; a program that works is not held up by it."""
    made = await token_for(await browse(), "read")
    async with program(site, "guess") as guesser, program(site, made["token"]) as client:
        guesses = [(await guesser.get("/state")).status_code for _ in range(MAX_SIGN_IN_ATTEMPTS)]
        refused = await guesser.get("/state")
        right = await client.get("/state")

    assert set(guesses) == {401}
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    assert right.status_code == 200


@SQLITE_ONLY
async def test_api_token_receives_events_from_the_stream(site: Site, browse: Browse) -> None:
    """It hears what happens like any page."""
    browser = await browse()
    made = await token_for(browser, "read")
    async with program(site, made["token"]) as client:
        position = (await client.get("/chat/messages")).json()["position"]
        await say(browser, "hello")
        heard = await until_topic(events(client, after=position), "chat.message.user_appended")

    assert heard[-1].data["text"] == "hello"


async def test_passkey_signs_in_until_it_is_removed(site: Site, browse: Browse) -> None:
    """On each engine, with a device that signs as real ones do."""
    browser, device = await browse("Omar"), Device(site.origin)
    asked = (await browser.post("/passkeys/options")).json()["options"]
    made = await browser.post(
        "/passkeys", json={"credential": device.make(asked), "name": "My laptop"}
    )
    async with site.stranger() as stranger:
        options = (await stranger.post("/session/passkey/options")).json()["options"]
        answer = {"credential": device.sign(options)}
        signed = await stranger.post("/session/passkey", json=answer)
        replayed = await stranger.post("/session/passkey", json=answer)
        stranger.headers["X-CSRF-Token"] = signed.json()["token"]
        where = (await stranger.get("/sessions")).json()["items"]
        taken = await stranger.delete(f"/passkeys/{made.json()['id']}")
    async with site.stranger() as stranger:
        options = (await stranger.post("/session/passkey/options")).json()["options"]
        late = await stranger.post("/session/passkey", json={"credential": device.sign(options)})

    assert made.status_code == 201
    assert made.json()["name"] == "My laptop"
    assert (signed.status_code, signed.json()["name"]) == (200, "Omar")
    assert replayed.status_code == 422
    assert {each["opened_with"] for each in where} == {"link", "passkey"}
    assert (taken.status_code, late.status_code) == (204, 401)


@SQLITE_ONLY
@pytest.mark.parametrize(
    "wrong", ["origin", "host", "challenge", "signature", "unverified", "count", "nonsense"]
)
async def test_invalid_passkey_assertion_is_refused(site: Site, browse: Browse, wrong: str) -> None:
    """Another page, another install, another time, another key, nobody at the device, a copy."""
    browser, device = await browse(), Device(site.origin)
    asked = (await browser.post("/passkeys/options")).json()["options"]
    await browser.post("/passkeys", json={"credential": device.make(asked), "name": "laptop"})
    async with site.stranger() as stranger:
        options = (await stranger.post("/session/passkey/options")).json()["options"]
        credential = device.sign(options, wrong=wrong)
        refused = await stranger.post("/session/passkey", json={"credential": credential})
        state = await stranger.get("/state")

    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    assert "set-cookie" not in refused.headers
    assert state.status_code == 401


@SQLITE_ONLY
async def test_passkey_challenge_of_another_person_adds_no_passkey(
    site: Site, browse: Browse
) -> None:
    """What one person's device was asked is not answered as another's."""
    owner, omar, device = await browse(), await browse("Omar"), Device(site.origin)
    asked = (await owner.post("/passkeys/options")).json()["options"]
    refused = await omar.post("/passkeys", json={"credential": device.make(asked), "name": "x"})

    assert refused.status_code == 422
    assert (await omar.get("/passkeys")).json()["items"] == []


async def test_sessions_are_listed_and_ended(site: Site, browse: Browse) -> None:
    """On each engine: the one, then all others; this one stays."""
    here, there, elsewhere = await browse(), await browse(), await browse()
    listed = (await here.get("/sessions")).json()["items"]
    theirs = next(
        each["id"] for each in (await there.get("/sessions")).json()["items"] if each["is_this"]
    )
    one = await here.delete(f"/sessions/{theirs}")
    again = await here.delete(f"/sessions/{theirs}")
    others = await here.delete("/sessions")
    after = [(await each.get("/session")).status_code for each in (here, there, elsewhere)]

    assert sum(each["is_this"] for each in listed) == 1
    assert len(listed) == 3
    assert (one.status_code, again.status_code, others.json()) == (204, 404, {"count": 1})
    assert after == [200, 401, 401]


async def test_invited_guest_sees_only_their_own_data_and_cannot_invite(
    site: Site, browse: Browse
) -> None:
    """On each engine: a link for a person, good once; they cannot invite."""
    owner = await browse()
    await say(owner, "Remember that my safe opens with 4711.")
    made = (await owner.post("/invitations", json={"name": "Ana"})).json()
    async with site.stranger() as guest, site.stranger() as second:
        link = made["link"].partition("#")[2]
        signed = await sign_in(guest, link)
        again = await second.post("/session", json={"link": link})
        guest.headers["X-CSRF-Token"] = signed.json()["token"]
        seen = await guest.get("/chat/messages")
        denied = [
            (await guest.get("/household")).status_code,
            (await guest.post("/invitations", json={"name": "Bo"})).status_code,
            (await guest.get("/settings")).status_code,
        ]
    household = (await owner.get("/household")).json()

    assert (signed.json()["name"], signed.json()["is_owner"]) == ("Ana", False)
    assert again.status_code == 401
    assert seen.json()["items"] == []
    assert denied == [403, 403, 403]
    assert {each["name"] for each in household["people"]} == {"owner", "Omar", "Ana"}
    assert household["invitations"] == []


@SQLITE_ONLY
async def test_revoked_or_expired_invitation_opens_nothing(
    site: Site, browse: Browse, clock: FrozenClock
) -> None:
    """Not so somebody who was here before; and after a week it is over by itself."""
    owner = await browse()
    ana = (await owner.post("/invitations", json={"name": "Ana"})).json()
    omar = (await owner.post("/invitations", json={"name": "Omar"})).json()
    await (await browse("Omar")).get("/session")
    ended = [await owner.delete(f"/invitations/{each['id']}") for each in (ana, omar)]
    late = (await owner.post("/invitations", json={"name": "Bo"})).json()
    own = await owner.post("/invitations", json={"name": "owner"})
    clock.tick(minutes=7 * DAY_MIN)
    async with site.stranger() as guest:
        answers = [
            (await guest.post("/session", json={"link": each["link"].partition("#")[2]}))
            for each in (ana, omar, late)
        ]
    names = {each["name"] for each in (await owner.get("/household")).json()["people"]}

    assert [each.status_code for each in ended] == [204, 204]
    assert own.status_code == 422
    assert [each.status_code for each in answers] == [401, 401, 401]
    assert names == {"owner", "Omar", "Bo"}


@SQLITE_ONLY
async def test_person_changes_name_and_zone_and_invalid_ones_are_refused(browse: Browse) -> None:
    """A name that another has is refused, and so is a zone that there is not."""
    omar = await browse("Omar")
    changed = await omar.patch("/me", json={"name": "Omar K", "zone": "Asia/Tokyo"})
    refused = [
        (await omar.patch("/me", json=each)).status_code
        for each in ({"name": "owner"}, {"zone": "Mars/Base"}, {"name": ""}, {"is_owner": True})
    ]
    now = (await omar.get("/session")).json()

    assert (changed.json()["name"], changed.json()["zone"]) == ("Omar K", "Asia/Tokyo")
    assert refused == [422, 422, 422, 422]
    assert (now["name"], now["zone"], now["is_owner"]) == ("Omar K", "Asia/Tokyo", False)


async def test_invitation_for_an_existing_person_or_group_is_refused(
    site: Site, browse: Browse
) -> None:
    """On each engine: a link to what somebody has told would let the owner read it; nor a group."""
    owner, omar = await browse(), await browse("Omar")
    await say(omar, "Remember that my safe opens with 4711.")
    await ensure_group(
        site.app.db,
        site.app.clock,
        site.app.settings,
        ChatRef(channel="telegram", address="-1", title="Family", is_private=False),
    )
    async with site.app.db.begin_read() as tx:
        names = [each.name for each in await list_people(tx) if each.name != "Omar"]
    refused = [await owner.post("/invitations", json={"name": name}) for name in ("Omar", *names)]

    assert len(refused) == 3
    assert {each.status_code for each in refused} == {422}
    assert "oldfriend link --person" in refused[0].json()["detail"]
    assert (await owner.get("/household")).json()["invitations"] == []


@SQLITE_ONLY
async def test_failed_attempts_of_strangers_do_not_block_valid_sign_ins(
    site: Site, browse: Browse
) -> None:
    """Neither by wrong links from everywhere, nor by asking for what devices sign."""
    browser, device = await browse("Omar"), Device(site.origin)
    asked = (await browser.post("/passkeys/options")).json()["options"]
    async with site.app.db.begin_write() as tx:
        for number in range(300):
            await record_failed_sign_in(tx, f"10.0.0.{number}", "link", now=site.app.clock())
        for number in range(MAX_CHALLENGES + 50):
            await insert_challenge(tx, f"by a stranger {number}", "", now=site.app.clock())
    made = await browser.post("/passkeys", json={"credential": device.make(asked), "name": "x"})
    async with site.stranger() as stranger:
        options = (await stranger.post("/session/passkey/options")).json()["options"]
        signed = await stranger.post("/session/passkey", json={"credential": device.sign(options)})
        linked = await stranger.post("/session", json={"link": await site.link()})
    async with site.app.db.begin_read() as tx:
        kept = await tx.row("SELECT count(*) FROM web_challenge")

    assert (made.status_code, signed.status_code, linked.status_code) == (201, 200, 200)
    assert kept is not None
    assert kept[0] <= MAX_CHALLENGES


@SQLITE_ONLY
@pytest.mark.parametrize("ending", ["the session", "all others", "signing out", "the token"])
async def test_event_stream_ends_when_its_session_or_token_is_revoked(
    site: Site, browse: Browse, ending: str
) -> None:
    """At once, and not only when it is next looked at."""
    here, there = await browse(), await browse()
    made = await token_for(here, "read")
    session = next(
        each["id"] for each in (await there.get("/sessions")).json()["items"] if each["is_this"]
    )
    async with program(site, made["token"]) as client:
        listening = client if ending == "the token" else there
        heard = events(listening)
        assert (await anext(heard)).topic == "chat.connection.ready"
        match ending:
            case "the session":
                await here.delete(f"/sessions/{session}")
            case "all others":
                await here.delete("/sessions")
            case "signing out":
                await there.delete("/session")
            case _:
                await here.delete(f"/tokens/{made['id']}")
        async with asyncio.timeout(5):
            rest = [each.topic async for each in heard]

    assert rest == []
