"""Words with times of their own are written once, as they read now, into fitting sessions."""

import pytest

from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.ids import BatchId
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.memory.import_batches import ImportSource, start_or_resume_batch
from oldfriend.memory.import_writer import (
    ImportedCounts,
    ImportedMessage,
    ImportTarget,
    write_imported_messages,
)
from tests.memory.test_scoping import recorded
from tests.two_people import Friend

LONG_AGO = 1_500_000_000_000_000


def told(
    text: str,
    *,
    at: Micros = LONG_AGO,
    id_: str | None = None,
    session: str | None = None,
    edited: str = "",
) -> ImportedMessage:
    """Something that somebody said."""
    spoken = UnloggedMessage(
        role="person",
        speaker="Nora",
        text=text,
        at=at,
        trust="person",
        external_id=id_,
        details={"edited": edited} if edited else {},
    )
    return ImportedMessage(message=spoken, session=session)


async def brought(
    friend: Friend, *words: ImportedMessage, batch: BatchId | None = None
) -> ImportedCounts:
    """Bring words into a friend's chat."""
    async with friend.db.begin_write() as tx:
        target = ImportTarget(chat=friend.chat, language="en", batch=batch)
        return await write_imported_messages(tx, target, words, now=friend.clock())


async def import_of(friend: Friend) -> BatchId:
    """An import that has begun."""
    reading = ImportSource(file="f", format="text", sha256="0", me="", zone="UTC")
    async with friend.db.begin_write() as tx:
        return (await start_or_resume_batch(tx, friend.person.id, reading, now=friend.clock())).id


async def now_reads(friend: Friend) -> list[str]:
    """The texts as they read now."""
    async with friend.db.begin_read() as tx:
        rows = await tx.rows("SELECT text FROM message WHERE replaced_at IS NULL ORDER BY said_at")
    return [text for (text,) in rows]


async def sessions_of(friend: Friend) -> list[tuple[str, str | None, int]]:
    """Status, name and length in minutes of each session, as they began."""
    async with friend.db.begin_read() as tx:
        return await tx.rows(
            """SELECT status, external_id, (coalesce(closed_at, opened_at) - opened_at) / 60000000
               FROM session ORDER BY opened_at"""
        )


async def test_import_does_not_restore_an_earlier_message_version(nora: Friend) -> None:
    """The file may be older than what is here; a program says what holds now."""
    batch = await import_of(nora)
    for text in ("one", "two"):
        await brought(nora, told(text, id_="1"), batch=batch)

    assert (await brought(nora, told("one", id_="1"), batch=batch)).changed == 0
    assert await now_reads(nora) == ["two"]
    assert (await brought(nora, told("one", id_="1"))).changed == 1
    assert await now_reads(nora) == ["one"]


async def test_imported_edit_older_than_the_known_one_is_ignored(nora: Friend) -> None:
    """Also when both stand in one file."""
    batch = await import_of(nora)
    kept = await brought(
        nora,
        told("new", id_="1", edited="2024-02"),
        told("old", id_="1", edited="2024-01"),
        told("newest", id_="1", edited="2024-03"),
        batch=batch,
    )

    assert (kept.added, kept.changed) == (1, 1)
    assert await now_reads(nora) == ["newest"]


async def test_reimported_text_altered_by_storage_is_recognized(nora: Friend) -> None:
    """What is compared is what was stored."""
    for batch in (None, await import_of(nora)):
        await brought(nora, told("half \ud83d", id_="1"), batch=batch)

    async with nora.db.begin_read() as tx:
        assert await tx.row("SELECT count(*) FROM message") == (1,)


async def test_imported_messages_are_grouped_into_sessions_in_any_order(nora: Friend) -> None:
    """Named ones by their names, the others by their times."""
    minutes = {None: [70, 0, 65, 20], "b": [500, 10], "a": [30]}
    words = [
        told(f"{at}", at=LONG_AGO + at * MINUTE, session=name)
        for name, times in minutes.items()
        for at in times
    ]
    for part in (words[1::2], words[0::2]):
        await brought(nora, *part)

    assert sorted(await sessions_of(nora), key=str) == [
        ("closed", "a", 0),
        ("closed", "b", 490),
        ("closed", None, 20),
        ("closed", None, 5),
    ]


@pytest.mark.parametrize(("minutes", "status"), [(-31, "closed"), (-29, "open"), (31, "closed")])
async def test_only_recent_messages_open_a_session(nora: Friend, minutes: int, status: str) -> None:
    """No open session lies in the past, or in the future."""
    await brought(nora, told("hello", at=nora.clock() + minutes * MINUTE))

    assert [found[0] for found in await sessions_of(nora)] == [status]


async def test_imported_messages_never_open_a_session(nora: Friend) -> None:
    """However new it is; else undoing it would leave a hole in a session that goes on."""
    await brought(nora, told("hello", at=nora.clock()), batch=await import_of(nora))

    assert [found[0] for found in await sessions_of(nora)] == ["closed"]


async def test_writing_one_message_takes_three_sql_statements(nora: Friend) -> None:
    """Its session, its place in the order, its row; what is not needed is not asked.

    Locks aside: they cost nothing where one writes at a time.
    """
    target = ImportTarget(chat=nora.chat, language="en")
    await brought(nora, told("hello", at=nora.clock()))
    async with recorded(nora) as tx:
        await write_imported_messages(
            tx, target, [told("again", at=nora.clock())], now=nora.clock()
        )

    statements = [sql for sql, _, _ in tx.seen if "FOR UPDATE" not in sql]
    assert [sql.split()[0] for sql in statements] == ["SELECT", "UPDATE", "INSERT"]
