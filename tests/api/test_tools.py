"""A person sees the tools with their own use, and what was done for them alone."""

from oldfriend.domain.ids import TurnId, new_id
from oldfriend.memory.limitation_store import Limitation, save_limitation
from oldfriend.memory.people import ensure_owner
from oldfriend.proactive.impulse_store import (
    add_impulses,
    list_waiting_impulses,
    record_impulse_decision,
)
from oldfriend.proactive.policy import Impulse, ProactiveDecision
from oldfriend.queues.outbox import record_stranger_message
from oldfriend.usage.tool_log import LoggedToolUse, ToolSource, log_tool_use
from tests.api.conftest import Browse, Site, events, told, until_topic

A_GOAL_AND_A_REMINDER = (
    "I want to run 200 km by 31 December 2035",
    "I ran 12.5 km today",
    "Remind me to water the fig on 24 November 2035 at 10:00",
)


async def test_tools_and_audit_show_ones_own_uses_alone(site: Site, browse: Browse) -> None:
    """With their source, and what was not allowed (ACCEPTANCE K9, P5)."""
    browser, omar = await browse(), await browse("Omar")
    now = site.app.clock()
    async with site.app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=now, zone="UTC")
        use = LoggedToolUse(
            turn=TurnId("t"),
            name="read_page",
            status="declined",
            intent="question",
            arguments={"url": "http://tea.example/"},
            sources=(ToolSource(provider="tea.example", url="http://tea.example/", at=now),),
            made_at=now,
        )
        await log_tool_use(tx, owner.id, use)

    tools = (await browser.get("/tools")).json()
    assert "current_time" in [each["name"] for each in tools["tools"]]
    (recent,) = tools["recent"]
    assert (recent["label"], recent["status"]) == ("Read a page", "declined")
    assert recent["sources"][0]["url"] == "http://tea.example/"
    (record,) = (await browser.get("/audit")).json()["items"]
    assert (record["kind"], record["status"], record["ending"]) == ("tool", "denied", "declined")
    assert (await omar.get("/tools")).json()["recent"] == []
    assert record["label"] == "Read a page"
    (german,) = (await browser.get("/audit?language=de")).json()["items"]
    assert german["label"] == "Eine Seite lesen"
    assert (await omar.get("/audit")).json() == {"items": [], "next": None}
    assert (await browser.get("/audit?limit=0")).status_code == 422


async def test_what_cannot_be_done_yet_is_shown_to_whom_it_belongs(
    site: Site, browse: Browse
) -> None:
    """Until it is resolved (ACCEPTANCE L11)."""
    browser, omar = await browse(), await browse("Omar")
    now = site.app.clock()
    async with site.app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=now, zone="UTC")
        for title, is_open in (("Read scans", True), ("Fly", False)):
            limitation = Limitation(
                id=new_id(now),
                person=owner.id,
                title=title,
                plan="A model that sees",
                is_open=is_open,
                created_at=now,
                changed_at=now,
            )
            await save_limitation(tx, limitation)

    (noted,) = (await browser.get("/tools")).json()["limitations"]
    assert (noted["title"], noted["plan"]) == ("Read scans", "A model that sees")
    assert (await omar.get("/tools")).json()["limitations"] == []


async def test_audit_comes_by_pages_each_record_once_and_by_what_is_asked_for(
    site: Site, browse: Browse
) -> None:
    """Also where many things were done at one moment (ACCEPTANCE P5)."""
    browser, now = await browse(), site.app.clock()
    async with site.app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=now, zone="UTC")
        for number in range(10):
            use = LoggedToolUse(
                turn=TurnId(f"t{number}"),
                name="read_page",
                status="declined" if number % 3 else "done",
                arguments={},
                made_at=now + number // 5,
            )
            await log_tool_use(tx, owner.id, use)
    turns, cursor = [], ""
    while cursor is not None:
        page = (await browser.get(f"/audit?limit=3{cursor and f'&cursor={cursor}'}")).json()
        turns += [each["turn"] for each in page["items"]]
        cursor = page["next"]
    denied = (await browser.get("/audit?status=denied&kind=tool&limit=200")).json()

    assert len(turns) == 10
    assert set(turns) == {f"t{number}" for number in range(10)}
    assert len(denied["items"]) == 6
    assert (await browser.get("/audit?kind=model")).json()["items"] == []
    assert (await browser.get("/audit?kind=magic")).status_code == 422
    assert (await browser.get("/audit?cursor=WzFd")).status_code == 422


async def test_audit_tells_what_asked_by_message_and_program(browse: Browse) -> None:
    """What a person wrote, and what a program sent with a token of theirs (P5)."""
    browser = await browse()
    token = (await browser.post("/tokens", json={"name": "script", "scope": "write"})).json()
    await told(browser, "Remind me tomorrow at 10am to call Eva")
    page = (await browser.get("/chat/messages")).json()
    mine = next(each for each in page["items"] if each["role"] == "person")
    headers = {"Authorization": f"Bearer {token['token']}", "Idempotency-Key": "program-1"}
    asked = {"text": "Remind me tomorrow at 11am to call Tom"}
    sent = await browser.post("/chat/messages", json=asked, headers=headers)
    assert sent.status_code == 202, sent.text
    await until_topic(events(browser, after=page["position"]), "chat.message.done")
    records = (await browser.get("/audit")).json()["items"]

    assert {(each["asked"], each["asked_by"]) for each in records} == {
        (mine["id"], "web"),
        (sent.json()["id"], token["id"]),
    }


async def test_audit_tells_what_was_done_unasked_and_who_was_not_let_in(
    site: Site, browse: Browse
) -> None:
    """Without a word of what was said; strangers are counted for the owner alone (P5)."""
    browser, omar, now = await browse(), await browse("Omar"), site.app.clock()
    async with site.app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=now, zone="UTC")
        impulse = Impulse(
            person=owner.id,
            kind="silence",
            key="silence:secret",
            sources=("secret",),
            not_before=now,
            expires_at=now + 1,
            urgency=0.5,
        )
        await add_impulses(tx, owner.id, [impulse], now=now)
        (stored,) = await list_waiting_impulses(tx, owner.id)
        said = ProactiveDecision(verdict="say", reason="trigger")
        await record_impulse_decision(tx, stored, said, now=now)
        for _ in range(3):
            await record_stranger_message(tx, "telegram", "secret-address", now=now)
    unasked = (await browser.get("/audit?kind=unasked")).json()["items"]
    everything = await browser.get("/audit")

    assert [(each["what"], each["status"]) for each in unasked] == [("silence", "ok")]
    denied = (await browser.get("/audit?status=denied")).json()["items"]
    assert [(each["what"], each["details"]) for each in denied] == [
        ("telegram", "senders: 1, messages: 3")
    ]
    assert "secret" not in everything.text
    assert (await omar.get("/audit")).json()["items"] == []


async def test_audit_names_the_goal_with_its_amount_and_the_reminder(browse: Browse) -> None:
    """As they are now; what is taken back has no amount any more."""
    owner = await browse()
    for words in A_GOAL_AND_A_REMINDER:
        await told(owner, words)
    items = (await owner.get("/audit", params={"kind": "tool"})).json()["items"]
    (goal,) = (await owner.get("/goals")).json()["items"]
    await owner.patch(f"/goals/{goal['id']}", json={"action": "undo"})
    later = (await owner.get("/audit", params={"kind": "tool"})).json()["items"]

    named = {(each["about"], each["amount"], each["unit"]) for each in items if each["about"]}
    assert named == {
        ("water the fig", None, None),
        (goal["text"], 12.5, "km"),
        (goal["text"], None, None),
    }
    assert {each["amount"] for each in later} == {None}
    assert goal["id"] not in str(items)


async def test_audit_names_no_goal_or_reminder_that_is_forgotten(browse: Browse) -> None:
    """That something was done stays, without what it was done to."""
    owner = await browse()
    for words in A_GOAL_AND_A_REMINDER:
        await told(owner, words)
    before = (await owner.get("/audit", params={"kind": "tool"})).json()["items"]
    ids = [each["id"] for each in (await owner.get("/chat/messages")).json()["items"]]
    preview = await owner.post("/forget/preview", json={"ids": ids})
    done = await owner.post(
        "/forget", json={"ids": ids}, headers={"If-Match": preview.headers["ETag"]}
    )
    after = (await owner.get("/audit", params={"kind": "tool"})).json()["items"]

    assert {each["about"] for each in before} > {"water the fig"}
    assert {each["what"] for each in before} > {"set_goal", "set_reminder"}
    assert done.status_code == 200
    assert after
    assert not any(each["about"] or each["amount"] for each in after)
    assert "fig" not in str(after)
    assert "12.5" not in str(after)
