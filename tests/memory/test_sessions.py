"""A stretch of talk ends with a long pause, and a chat has one at a time."""

import pytest

from oldfriend.domain.clock import MINUTE
from oldfriend.domain.messages import SESSION_IDLE_GAP
from oldfriend.memory.sessions import close_session, ensure_closed_session
from tests.engines import SEVERAL_PROCESSES
from tests.processes import line_of, python
from tests.two_people import Friend, Meet

TALKER = """
import asyncio, sys
from oldfriend.runtime.wiring import open_database
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.domain.messages import Chat
from oldfriend.memory.message_log import WriteTarget, write_message
from oldfriend.memory.sessions import ensure_open_session

async def talk(url, person, companion, chat):
    chat = Chat(id=chat, person=person, companion=companion, channel="c", address="", title="")
    db = await open_database(url)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(20):
        at = number * 31 * 60_000_000
        async with db.begin_write() as tx:
            place = WriteTarget(chat=chat, session=await ensure_open_session(tx, chat, at))
            spoken = UnloggedMessage(role="person", speaker="", text="x", at=at, trust="person")
            await write_message(tx, place, spoken, now=at)
    await db.close()
    print("done", flush=True)

asyncio.run(talk(*sys.argv[1:]))
"""


async def statuses(friend: Friend) -> list[str]:
    """The sessions of a chat, as they began."""
    async with friend.db.begin_read() as tx:
        rows = await tx.rows(
            "SELECT status FROM session WHERE chat = :chat ORDER BY opened_at", chat=friend.chat.id
        )
    return [row[0] for row in rows]


async def test_talk_goes_on_in_one_session_until_a_pause_of_half_an_hour(nora: Friend) -> None:
    """Half an hour counts from what was said last, not from the beginning."""
    assert SESSION_IDLE_GAP == 30 * MINUTE
    first = await nora.says("one")
    nora.clock.tick(minutes=29)
    second = await nora.says("two")
    nora.clock.tick(minutes=29)
    third = await nora.says("three")
    nora.clock.tick(minutes=30)
    fourth = await nora.says("four")

    assert first.session == second.session == third.session != fourth.session
    assert await statuses(nora) == ["closed", "open"]


async def test_a_session_that_idled_is_closed_at_its_last_word(nora: Friend) -> None:
    """Not at the moment at which somebody noticed."""
    last = await nora.says("bye")
    nora.clock.tick(minutes=500)
    await nora.says("hello again")

    async with nora.db.begin_read() as tx:
        row = await tx.row(
            "SELECT closed_at, close_trigger FROM session WHERE id = :id", id=last.session
        )
    assert row == (last.at, "idle")


async def test_a_session_ends_after_two_hundred_messages(nora: Friend) -> None:
    """However lively the talk is, a session stays small enough to be thought over."""
    for number in range(200):
        await nora.says(f"word {number}")
    assert await statuses(nora) == ["open"]
    await nora.says("one more")

    assert await statuses(nora) == ["closed", "open"]
    async with nora.db.begin_read() as tx:
        triggers = await tx.rows("SELECT close_trigger FROM session ORDER BY opened_at")
    assert triggers == [("max_length",), (None,)]


async def test_a_session_ends_after_twenty_thousand_tokens(nora: Friend) -> None:
    """A few long texts fill a session as well."""
    first = await nora.says("word " * 15_900)
    second = await nora.says("word " * 200)
    third = await nora.says("and on")

    assert first.session == second.session != third.session


async def test_each_chat_has_its_own_session(meet: Meet) -> None:
    """Talking on the web does not keep the terminal's session alive."""
    terminal, web = await meet("Nora"), await meet("Nora", channel="web")

    one, two = await terminal.says("here"), await web.says("there")

    assert one.session != two.session
    assert await statuses(terminal) == await statuses(web) == ["open"]


async def test_closing_a_session_twice_succeeds_once(nora: Friend) -> None:
    """The second to close learns that it was closed already."""
    message = await nora.says("hello")
    async with nora.db.begin_write() as tx:
        closings = [
            await close_session(tx, nora.chat, message.session, at=nora.clock(), trigger="idle")
            for _ in range(2)
        ]

    assert closings == [True, False]
    assert (await nora.says("next")).session != message.session


async def test_reimported_session_keeps_its_external_id_and_extends_its_range(nora: Friend) -> None:
    """An overlapping newer export adds to the session that is here; talk does not go into it."""
    async with nora.db.begin_write() as tx:
        ids = {
            await ensure_closed_session(
                tx, nora.chat, external_id="s1", opened_at=opened, closed_at=closed, batch_id=None
            )
            for opened, closed in [(500, 600), (400, 550), (510, 900)]
        }
        row = await tx.row("SELECT opened_at, closed_at, status FROM session")

    assert len(ids) == 1
    assert row == (400, 900, "closed")
    assert (await nora.says("now")).session not in ids


@pytest.mark.slow
@SEVERAL_PROCESSES
async def test_processes_that_race_never_have_two_sessions_open(
    nora: Friend, database_url: str
) -> None:
    """Each of their twenty stretches is one session."""
    ids = (nora.person.id, nora.companion.id, nora.chat.id)
    with python(TALKER, database_url, *ids) as one, python(TALKER, database_url, *ids) as two:
        assert line_of(one.stdout) == line_of(two.stdout) == "ready"
        for process in (one, two):
            process.stdin.write(b"go\n")
            process.stdin.flush()
        assert line_of(one.stdout) == line_of(two.stdout) == "done"

    kept = await statuses(nora)
    assert kept.count("open") == 1
    async with nora.db.begin_read() as tx:
        assert await tx.row("SELECT count(*) FROM message") == (40,)
