"""What is asked twice, or of what has changed meanwhile: done once, or not at all."""

import asyncio
from dataclasses import dataclass

import httpx

from oldfriend.api.idempotency import IdempotencyCache
from oldfriend.api.requests import TokenRequest
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import StoreBusy
from oldfriend.domain.ids import PersonId
from oldfriend.forgetting.delete import forget
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.people import get_person
from oldfriend.presenters.base_schema import Schema
from tests.api.conftest import Browse, Site, told
from tests.api.many_beliefs import believe_many
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY


def with_key(key: str) -> dict[str, dict[str, str]]:
    """A key by which a repetition is known."""
    return {"headers": {"Idempotency-Key": key}}


async def test_a_token_and_an_invitation_are_made_once_for_a_key(
    site: Site, browse: Browse, clock: FrozenClock
) -> None:
    """On each engine, also asked at once; another's key is theirs; after an hour it is new."""
    owner, omar = await browse(), await browse("Omar")
    wanted = {"name": "script", "scope": "read"}
    async with asyncio.TaskGroup() as group:
        asked = [
            group.create_task(owner.post("/tokens", json=wanted, **with_key("for the script")))
            for _ in range(2)
        ]
    one, again = [each.result() for each in asked]
    other = await owner.post(
        "/tokens", json={**wanted, "scope": "write"}, **with_key("for the script")
    )
    omars = await omar.post("/tokens", json=wanted, **with_key("for the script"))
    links = {
        (await owner.post("/invitations", json={"name": "Ana"}, **with_key("for Ana"))).text
        for _ in range(2)
    }
    short = await owner.post("/tokens", json=wanted, **with_key("short"))
    listed = (await owner.get("/tokens")).json()["items"]
    clock.tick(minutes=61)
    again_here = await owner.post("/session", json={"link": await site.link()})
    owner.headers["X-CSRF-Token"] = again_here.json()["token"]
    late = await owner.post("/tokens", json=wanted, **with_key("for the script"))

    assert (one.status_code, one.json()) == (201, again.json())
    assert (other.status_code, short.status_code) == (422, 422)
    assert omars.json()["token"] != one.json()["token"]
    assert len(links) == 1
    assert len(listed) == 1
    assert late.json()["id"] != one.json()["id"]


@SQLITE_ONLY
async def test_no_response_outlives_what_was_forgotten_by_another_door(
    site: Site, browse: Browse
) -> None:
    """Such as by a word in a chat: of whoever forgot, and of nobody else."""
    owner, omar = await browse(), await browse("Omar")
    wanted = {"name": "script", "scope": "read"}
    mine, theirs = [
        (await each.post("/tokens", json=wanted, **with_key("for the script"))).json()
        for each in (owner, omar)
    ]
    async with site.app.db.begin_read() as tx:
        me = await get_person(tx, None)
    await forget(site.app, me.id, DeletionRequest(everything=True))
    mine_again, theirs_again = [
        (await each.post("/tokens", json=wanted, **with_key("for the script"))).json()
        for each in (owner, omar)
    ]

    assert mine_again["id"] != mine["id"]
    assert theirs_again["id"] == theirs["id"]


@SQLITE_ONLY
async def test_no_response_is_replayed_after_another_process_has_forgotten(
    site: Site, browse: Browse
) -> None:
    """Such as the command line, or a worker: they leave their count in the database."""
    owner, omar = await browse(), await browse("Omar")
    wanted = {"name": "script", "scope": "read"}
    before = [
        (await each.post("/tokens", json=wanted, **with_key("for the script"))).json()["id"]
        for each in (owner, omar, owner)
    ]
    async with site.app.db.begin_write() as tx:
        me = await get_person(tx, None)
        await tx.run("UPDATE person SET rewritten = rewritten + 1 WHERE id = :id", id=me.id)
    after = [
        (await each.post("/tokens", json=wanted, **with_key("for the script"))).json()["id"]
        for each in (owner, omar, owner)
    ]

    assert before[0] == before[2]
    assert after[0] == after[2] != before[0]
    assert after[1] == before[1]


@SQLITE_ONLY
async def test_idempotency_key_creates_a_core_block_draft_once(browse: Browse) -> None:
    """Asked again because its answer was lost, it suggests nothing a second time."""
    browser = await browse()
    material = {"text": "You are called Mira. You are calm, and you like rivers."}
    drafts = [
        (await browser.post("/drafts", json=material, **with_key("first draft"))).json()
        for _ in range(2)
    ]
    waiting = (await browser.get("/persona")).json()["suggestions"]

    assert drafts[0] == drafts[1]
    assert len(waiting) == len(drafts[0]["suggestions"]) > 0


@SQLITE_ONLY
async def test_update_with_stale_etag_is_refused_for_person_settings_and_beliefs(
    browse: Browse,
) -> None:
    """Name and zone, what is chosen, what is believed: 412, and nothing happens."""
    browser = await browse()
    await told(browser, "Remember that my cat is called Miso.")
    await told(browser, "Remember that my cat sleeps on the radiator.")
    one, other = (await browser.get("/memories", params={"kind": "note"})).json()["items"]
    path, body = f"/memories/{one['id']}", {"other": other["id"]}
    asked = [
        ("PATCH", "/me", {"zone": "Asia/Tokyo"}, (await browser.get("/session")).headers["etag"]),
        (
            "PATCH",
            "/settings",
            {"values": {"memory.thinks": False}},
            (await browser.get("/settings")).headers["etag"],
        ),
        ("POST", f"{path}/verdict", {"verdict": "pin"}, one["etag"]),
        ("POST", f"{path}/merge", body, one["etag"]),
        ("POST", f"{path}/separate", body, one["etag"]),
    ]
    await browser.patch("/me", json={"zone": "Asia/Tokyo"})
    await browser.patch("/settings", json={"values": {"memory.thinks": False}})
    await browser.post(f"{path}/verdict", json={"verdict": "confirm"})
    stale = [await ask(browser, *each) for each in asked]
    seen = await browser.get(path)
    tags = [(await browser.get(at)).headers["etag"] for at in ("/session", "/settings", path)]
    fresh = [
        await ask(browser, method, at, json, tag)
        for (method, at, json, _), tag in zip(asked[:3], tags, strict=True)
    ]

    assert [each.status_code for each in stale] == [412] * 5
    assert not seen.json()["is_pinned"]
    assert [each.status_code for each in fresh] == [200] * 3
    assert fresh[2].json()["is_pinned"]


async def ask(
    browser: httpx.AsyncClient, method: str, path: str, json: object, tag: str
) -> httpx.Response:
    """Ask for a change of what was seen under a tag."""
    return await browser.request(method, path, json=json, headers={"If-Match": tag})


@SQLITE_ONLY
async def test_invalid_text_in_a_patch_leaves_the_due_date_unchanged(
    site: Site, browse: Browse
) -> None:
    """When it is due and what it says are put right together, or not at all."""
    browser, now = await browse(), site.app.clock()
    owner = PersonId((await browser.get("/session")).json()["id"])
    await believe_many(site.app, owner, 10, since=now - 10 * DAY, days=9)
    found = (await browser.get("/memories", params={"kind": "commitment"})).json()["items"]
    path = f"/memories/{found[0]['id']}"
    refused = await browser.patch(path, json={"text": " ", "due": "2027-01-31"})
    after = (await browser.get(path)).json()
    both = await browser.patch(path, json={"text": "Send Bo the photos", "due": "2027-01-31"})

    assert refused.status_code == 422
    assert after["due_at"] == found[0]["due_at"]
    assert both.json()["due_at"].startswith("2027-01-31")
    assert both.json()["text"] == "Send Bo the photos"


@SQLITE_ONLY
async def test_forgetting_clears_cached_draft_responses(browse: Browse) -> None:
    """The text may say what was; asked with its key again, it is asked for the first time."""
    browser = await browse()
    key = with_key("first draft")
    secret = {"text": "You are called Mira. You know that Ana is allergic to hazelnuts."}
    assert (await browser.post("/drafts", json=secret, **key)).status_code == 201
    await told(browser, "hello")
    seen = await browser.post("/forget/preview", json={"everything": True})
    etag = {"If-Match": seen.headers["ETag"]}
    done = await browser.post("/forget", json={"everything": True}, headers=etag)
    other = {"text": "You are called Nell. You are loud, and you like mountains."}
    again = await browser.post("/drafts", json=other, **key)

    assert (done.status_code, done.json()["is_proved"]) == (200, True)
    assert again.status_code == 201


@dataclass(frozen=True, slots=True)
class Wanted(Schema):
    """What is asked for, and what comes of it."""

    name: str


async def test_an_action_is_not_repeated_though_the_store_is_busy_after_it() -> None:
    """What has been made is kept, and forgetting while it was made ends its replay."""
    made, deletions = list[str](), 0

    async def count(_person: PersonId) -> int:
        if is_busy:
            raise StoreBusy("Another program is writing.")
        return deletions

    async def make() -> Wanted:
        nonlocal is_busy, deletions
        made.append("token")
        is_busy = len(made) == 1
        deletions += len(made) == 2
        return Wanted(name=str(len(made)))

    cache, me, is_busy = IdempotencyCache(count), PersonId("me"), False
    asked = TokenRequest(name="script", scope="read")
    responses = []
    for key in ("the first", "the first", "the second", "the second"):
        responses.append(await cache.run_once(me, key, asked, make, Wanted, now=0))
        is_busy = False

    assert [each.name for each in responses] == ["1", "1", "2", "3"]
