"""Somebody tries to get at what is not theirs, by every way that the API describes."""

import httpx
import pytest

from oldfriend.db.person_rows import move_rows
from oldfriend.domain.clock import DAY
from oldfriend.memory.core_blocks import Proposal, list_blocks, suggest
from oldfriend.memory.people import ensure_person, get_person_by_id
from oldfriend.persona.core_block_updates import write_core_block
from oldfriend.queues.jobs_table import move_to_dead_letters
from oldfriend.queues.scheduled_jobs import JobSpec, schedule_job
from oldfriend.usage.program_questions import ProgramQuestion, save_question
from oldfriend.watches.watch_edits import add_watch
from tests.api.conftest import Browse, Site, say, sign_in, told
from tests.api.devices import Device
from tests.api.openapi import Operation, operations
from tests.api.test_imports_and_exports import CHAT, checked, until
from tests.api.test_reflections import thought
from tests.engines import SQLITE_ONLY

NO_IDS = {"day", "month", "block", "use", "provider", "name", "year"}
"""What in a path names nothing of somebody's: a date, or one of a few words."""
NOT_THERE = {"GET /api/v1/chat/messages/{message}/recording"}
"""What not even its owner is given here: nothing was said aloud; see test_voice."""


async def things_of(site: Site, browser: httpx.AsyncClient) -> dict[str, str]:
    """One of everything that a person can have, by its name in paths."""
    await told(browser, "Remember that my sister Ana was born in Porto, and lives with Bo.")
    await told(browser, "Remember that my cat is called Miso.")
    said = (await browser.get("/chat/messages")).json()["items"]
    learned = (await browser.get("/memories")).json()["items"]
    device = Device(site.origin)
    asked = (await browser.post("/passkeys/options")).json()["options"]
    passkey = await browser.post(
        "/passkeys", json={"credential": device.make(asked), "name": "laptop"}
    )
    token = await browser.post("/tokens", json={"name": "script", "scope": "read"})
    sessions = (await browser.get("/sessions")).json()["items"]
    invited = await browser.post("/invitations", json={"name": "Guest"})
    brought, file = [(await checked(browser, CHAT.encode()))["id"] for _ in range(2)]
    await browser.post(f"/uploads/{brought}/import", json={"me": "Nora"})
    await until(browser, brought, lambda now: now["stage"] == "done")
    known = (await browser.get("/people")).json()["items"]
    async with site.app.db.begin_write() as tx:
        (person,) = (await tx.rows("SELECT id FROM person WHERE is_owner = 1"))[0]
        now = site.app.clock()
        made = await suggest(
            tx,
            person,
            Proposal(block="style", text="Be brief.", reason="", author="test/1"),
            now=now,
        )
        owner = await get_person_by_id(tx, person)
        watch = await add_watch(tx, owner, "https://example.org/", now=now)
        twin = await ensure_person(tx, "Twin", now=now, zone="UTC")
        question = ProgramQuestion(
            id="q-1", program="Claude", tool="recall", asked="Who?", given=(), asked_at=now
        )
        await save_question(tx, person, question)
        merge = await move_rows(tx, person, twin.id, now=now, undo_until=now + DAY)
        job = JobSpec(name="of another version", arguments={})  # nobody here gets it done
        letter = await schedule_job(tx, "one", job, person=None, now=now)
        assert letter is not None
        await move_to_dead_letters(tx, letter, error="it failed", now=now)
    tasks = (await browser.post("/tasks", json={"text": "call Ana"})).json()["items"]
    weight = {"name": "weight", "value": 71.4, "unit": "kg"}
    kept = (await browser.post("/measurements", json={"items": [weight]})).json()["items"]
    written = (await browser.post("/diary", json={"text": "A quiet day."})).json()
    goal = (await browser.post("/goals", json={"text": "run twice a week"})).json()
    letters = (await browser.get("/jobs")).json()["items"]
    tick = await thought(site, person, "She misses Ana.", now)
    assert made is not None
    return {
        "message": said[0]["id"],
        "reply": said[1]["id"],
        "memory": learned[0]["id"],
        "other": learned[1]["id"],
        "somebody": known[0]["id"],
        "passkey": passkey.json()["id"],
        "token": token.json()["id"],
        "session": sessions[0]["id"],
        "invitation": invited.json()["id"],
        "suggestion": made.id,
        "job": letters[0]["id"],
        "number": "1",
        "file": file,
        "tick": tick,
        "task": tasks[0]["id"],
        "measurement": kept[0]["id"],
        "entry": written["id"],
        "goal": goal["id"],
        "watch": watch.id,
        "merge_id": merge.id,
        "question": question.id,
    }


@SQLITE_ONLY
async def test_no_endpoint_gives_access_to_another_persons_ids(site: Site, browse: Browse) -> None:
    """Every route with an id in it, with everything of the owner's, asked as Omar."""
    owner, omar = await browse(), await browse("Omar")
    things = await things_of(site, owner)
    document = (await omar.get("/openapi.json")).json()
    asked = [each for each in operations(document) if each.parameters("path").keys() - NO_IDS]
    before = await everything(owner)
    answers = await answers_to(omar, site, asked, things)
    after = await everything(owner)
    owners = await answers_to(owner, site, asked, things)

    assert len(asked) > 20
    assert {name: told for name, told in answers.items() if told[0] not in {403, 404}} == {}
    assert after == before
    assert {name for name, told in owners.items() if told[0] in {401, 403, 404}} == NOT_THERE


async def answers_to(
    browser: httpx.AsyncClient, site: Site, asked: list[Operation], things: dict[str, str]
) -> dict[str, tuple[int, str]]:
    """What comes of each question, those last that take something away."""
    order = ("get", "put", "patch", "post", "delete")
    answers = {}
    for each in sorted(asked, key=lambda each: (order.index(each.method), "session" in each.path)):
        ids = {**things, "message": things["reply"]} if "receipt" in each.path else things
        body = each.example()
        if body is not None and "other" in body:
            body["other"] = things["other"]
        answer = await browser.request(each.method, site.origin + each.at(ids), json=body)
        answers[each.name] = (answer.status_code, answer.text)
    return answers


@SQLITE_ONLY
async def test_owner_only_endpoints_are_forbidden_for_other_persons(
    site: Site, browse: Browse
) -> None:
    """Settings, models, spending, other people: for a session, and for a token with all scopes."""
    omar = await browse("Omar")
    document = (await omar.get("/openapi.json")).json()
    places = (
        "/settings",
        "/models",
        "/providers",
        "/spending",
        "/jobs",
        "/doctor",
        "/household",
        "/invitations",
        "/telegram/token",
        "/telegram/people",
    )
    asked = [
        each
        for each in operations(document)
        if each.path.removeprefix("/api/v1").startswith(places)
    ]
    token = (await omar.post("/tokens", json={"name": "all", "scope": "admin"})).json()["token"]
    things = dict.fromkeys(("invitation", "job"), "x") | {
        "use": "main",
        "provider": "openai",
        "name": "owner",
    }
    statuses = set()
    for headers in ({}, {"Authorization": f"Bearer {token}"}):
        for each in asked:
            answer = await omar.request(
                each.method, site.origin + each.at(things), json=each.example(), headers=headers
            )
            statuses.add((each.name, answer.status_code))

    assert len(asked) > 14
    assert {status for _, status in statuses} == {403}


async def everything(browser: httpx.AsyncClient) -> list[object]:
    """All that somebody could have changed of a person's."""
    paths = (
        "/chat/messages",
        "/memories",
        "/tokens",
        "/passkeys",
        "/persona",
        "/uploads",
        "/household",
    )
    told = [(await browser.get(path)).json() for path in paths]
    sessions = [each["id"] for each in (await browser.get("/sessions")).json()["items"]]
    return [*told, sessions]


@SQLITE_ONLY
async def test_sign_in_prevents_session_fixation_and_ends_the_old_session(
    site: Site, browse: Browse
) -> None:
    """Signing in always makes a new one, and ends the one that this browser had."""
    owner = await browse()
    ((name, before),) = owner.cookies.items()
    again = await owner.post("/session", json={"link": await site.link()})
    after = owner.cookies[name]
    async with site.stranger() as thief:
        thief.cookies.set(name, "chosen-by-somebody-else" * 2)
        fixed = await sign_in(thief, await site.link("Omar"))
        given = fixed.headers["set-cookie"]
    async with site.stranger() as old:
        old.cookies.set(name, before)
        old.headers["X-CSRF-Token"] = owner.headers["X-CSRF-Token"]  # of the session before
        kept = await old.get("/state")

    assert again.status_code == 200
    assert after != before
    assert "chosen-by" not in given
    assert kept.status_code == 401


@SQLITE_ONLY
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "localhost.evil.example"},
        {"Host": "evil.example", "X-Forwarded-Host": "localhost"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://localhost"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"X-CSRF-Token": ""},
        {"X-CSRF-Token": "a" * 64},
    ],
    ids=str,
)
async def test_forged_host_origin_or_csrf_token_is_refused(
    browse: Browse, headers: dict[str, str]
) -> None:
    """Whatever cookie a browser sends along for it."""
    browser = await browse()
    refused = await browser.post(
        "/chat/messages",
        json={"text": "forged"},
        headers={"Idempotency-Key": "forged key", **headers},
    )
    said = await browser.get("/chat/messages")

    assert refused.status_code in {400, 401, 403}
    assert said.json()["items"] == []


@SQLITE_ONLY
async def test_bearer_token_with_foreign_origin_is_refused(site: Site, browse: Browse) -> None:
    """A program sends no Origin; whoever sends another one is a page. Nor is any told it may."""
    made = await (await browse()).post("/tokens", json={"name": "x", "scope": "write"})
    async with httpx.AsyncClient(
        base_url=f"{site.origin}/api/v1",
        trust_env=False,
        verify=False,  # nothing is encrypted here, and loading certificates takes a while
        headers={"Authorization": f"Bearer {made.json()['token']}"},
    ) as client:
        refused = await client.post(
            "/chat/messages",
            json={"text": "x"},
            headers={"Idempotency-Key": "some key", "Origin": "http://evil.example"},
        )
        asked = await client.options(
            "/chat/messages",
            headers={"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"},
        )

    assert refused.status_code == 403
    assert not any(name.startswith("access-control") for name in asked.headers)


@SQLITE_ONLY
@pytest.mark.parametrize(
    "path",
    [
        "/static/../site.py",
        "/static/%2e%2e/site.py",
        "/static/..%2fsite.py",
        "/static/%2e%2e%2f%2e%2e%2f%2e%2e%2fpyproject.toml",
        "/static//etc/passwd",
        "/static/..%5csite.py",
        "/static/js/%00",
        "/static/js/..%2f..%2f__init__.py",
    ],
)
async def test_static_path_traversal_is_refused(site: Site, path: str) -> None:
    """However the way there is written."""
    async with site.stranger() as browser:
        answer = await browser.get(httpx.URL(site.origin).copy_with(raw_path=path.encode()))

    assert answer.status_code in {400, 404}
    assert "root:" not in answer.text
    assert "import" not in answer.text


@SQLITE_ONLY
async def test_line_breaks_in_input_cannot_inject_response_headers(
    site: Site, browse: Browse
) -> None:
    """Names, words and ids with ends of lines in them."""
    owner = await browse()
    evil = "x\r\nSet-Cookie: evil=1\r\n\r\nbody"
    answers = [
        await owner.post("/invitations", json={"name": evil}),
        await owner.post("/tokens", json={"name": evil, "scope": "read"}),
        await owner.patch("/me", json={"name": evil}),
        await owner.put("/persona/style", json={"text": evil}),
        await owner.get("/memories/x%0d%0aSet-Cookie:%20evil=1"),
        await owner.get("/days/%0d%0aSet-Cookie:evil"),
        await say(owner, evil, key="a key of mine"),
    ]

    for answer in answers:
        assert "set-cookie" not in answer.headers
        assert "evil" not in "".join(answer.headers.values())


@SQLITE_ONLY
async def test_sign_in_link_can_be_used_only_once(site: Site) -> None:
    """Nor do two who use it at once both come in."""
    link = await site.link()
    async with site.stranger() as one, site.stranger() as other:
        first = await one.post("/session", json={"link": link})
        second = await other.post("/session", json={"link": link})
        third = await one.post("/session", json={"link": link})

    assert [first.status_code, second.status_code, third.status_code] == [200, 401, 401]


@SQLITE_ONLY
async def test_core_block_write_with_stale_etag_is_refused(site: Site, browse: Browse) -> None:
    """Who writes a block must have read what stands there, where they say what they have read."""
    owner = await browse()
    first = await owner.put("/persona/persona", json={"text": "One."})
    (person,) = {(await owner.get("/session")).json()["id"]}
    await write_core_block(
        site.app.db, site.app.clock, person, "persona", "Two, from the terminal."
    )
    stale = await owner.put(
        "/persona/persona", json={"text": "Three."}, headers={"If-Match": first.headers["etag"]}
    )
    async with site.app.db.begin_read() as tx:
        held = {each.name: each.text for each in await list_blocks(tx, person)}

    assert stale.status_code == 412
    assert held["persona"] == "Two, from the terminal."
