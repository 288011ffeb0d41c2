"""Places on the page: codes, what would come together, and back; each for oneself alone."""

from contextlib import aclosing

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel import API_CHANNEL, Sender
from oldfriend.cli.link import print_places
from oldfriend.memory.credentials import generate_api_token, get_front_end, save_api_token
from oldfriend.memory.identities import assign_identity
from oldfriend.memory.people import get_person
from oldfriend.memory.web_sessions import hash_secret
from oldfriend.openai_api.speaker_pairing import answer_unknown_user
from tests.api.conftest import events, opened_site, until_topic
from tests.chat_fixtures import Say


async def test_two_memories_become_one_on_the_page_and_two_again(app: AppContext, say: Say) -> None:
    """Seen first, with the code of the other one; wrong codes are counted."""
    await say("I live in Lisbon.")
    await say("My sister is called Lena.", person="Ben")
    async with opened_site(app) as site, site.browser() as owner, site.browser("Ben") as ben:
        code = (await ben.post("/linked-accounts/code")).json()["code"]
        wrong = "000000" if code != "000000" else "000001"
        refused = await owner.post("/linked-accounts/preview", json={"code": wrong})
        own = await ben.post("/linked-accounts/preview", json={"code": code})
        unseen = await owner.post("/linked-accounts/join", json={"code": code})
        seen = (
            await owner.post("/linked-accounts/preview", json={"code": f"{code[:3]} {code[3:]}"})
        ).json()
        joined = await owner.post("/linked-accounts/join", json={"code": code})
        again = await owner.post("/linked-accounts/join", json={"code": code})
        signed_out = await ben.get("/session")
        (merge,) = (await owner.get("/linked-accounts")).json()["merges"]
        undone = await owner.post(f"/linked-accounts/merges/{merge['id']}/undo")
        twice = await owner.post(f"/linked-accounts/merges/{merge['id']}/undo")
        async with site.browser("Ben") as again_ben:
            for _ in range(6):
                await owner.post("/linked-accounts/join", json={"code": wrong})
            late = (await again_ben.post("/linked-accounts/code")).json()["code"]
            limited = await owner.post("/linked-accounts/preview", json={"code": late})

    assert (refused.status_code, own.status_code, again.status_code) == (422, 422, 422)
    assert (seen["name"], seen["former"]) == ("owner", "Ben")
    assert (seen["counts"]["messages"], seen["counts"]["browsers"]) == (1, 1)
    assert (joined.status_code, undone.status_code, twice.status_code) == (204, 204, 404)
    assert (unseen.status_code, signed_out.status_code, merge["name"]) == (422, 401, "Ben")
    assert limited.status_code == 422


async def test_the_ids_of_a_chat_program_are_not_shown(app: AppContext, say: Say) -> None:
    """They say nothing to anybody, and are there for unlinking only."""
    await say("hello")
    async with app.db.begin_write() as tx:
        person, now = (await get_person(tx, None)).id, app.clock()
        for channel, address in ((API_CHANNEL, "0a1b/361e"), ("telegram", "7")):
            await assign_identity(tx, person, channel=channel, address=address, now=now)
    async with opened_site(app) as site, site.browser() as owner:
        items = (await owner.get("/places")).json()["items"]

    labels = {each["address"]: each["label"] for each in items}
    assert (labels["0a1b/361e"], labels["7"]) == ("", "7")


async def test_chat_programs_are_told_apart_by_the_names_of_their_tokens(
    app: AppContext, say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the page and in the terminal; the address says nothing to anybody."""
    await say("hello")
    async with app.db.begin_write() as tx:
        person, now = await get_person(tx, None), app.clock()
        for name in ("Open WebUI", "LibreChat"):
            secret = generate_api_token()
            await save_api_token(
                tx, person.id, secret, name=name, scope="frontend", days=30, now=now
            )
            address = f"{get_front_end(hash_secret(secret))}361e"
            await assign_identity(tx, person.id, channel=API_CHANNEL, address=address, now=now)
    async with opened_site(app) as site, site.browser() as owner:
        items = (await owner.get("/linked-accounts")).json()["items"]
    await print_places(app, person)

    assert {each["label"] for each in items if each["channel"] == API_CHANNEL} == {
        "Open WebUI",
        "LibreChat",
    }
    assert {"openai: Open WebUI", "openai: LibreChat"} <= {*capsys.readouterr().out.splitlines()}


async def test_only_a_fresh_sign_in_joins(app: AppContext, say: Say, clock) -> None:
    """A browser that was left open must not be enough."""
    await say("hello")
    async with opened_site(app) as site, site.browser() as owner:
        clock.tick(minutes=60 * 24)
        answered = [
            await owner.post("/linked-accounts/code"),
            await owner.post("/linked-accounts/join", json={"code": "123456"}),
        ]

    assert [each.status_code for each in answered] == [403, 403]


async def test_an_open_page_hears_of_a_chat_program_that_is_linked_and_unlinked(
    app: AppContext, say: Say
) -> None:
    """At once; and whoever was not listening sees by the first event that something changed."""
    await say("hello")
    sender = Sender(address="0a1b/361e", name="Ana")
    async with opened_site(app) as site, site.browser() as owner:
        code = (await owner.post("/linked-accounts/code")).json()["code"]
        async with aclosing(events(owner)) as heard:
            ready = await anext(heard)
            await answer_unknown_user(app, sender, code)
            linked = (await until_topic(heard, "chat.linked_accounts.updated"))[-1]
            at = {"channel": API_CHANNEL, "address": sender.address}
            assert (await owner.delete("/linked-accounts", params=at)).status_code == 204
            unlinked = (await until_topic(heard, "chat.linked_accounts.updated"))[-1]
        async with aclosing(events(owner)) as heard:
            again = await anext(heard)

    assert ready.topic == again.topic == "chat.connection.ready"
    known = [each.data["linked_accounts"] for each in (ready, linked, unlinked, again)]
    assert known[0] == known[2] == known[3] != known[1]
