"""What stands on nothing any more goes with its words: what was rejected, what an undo has left."""

from collections.abc import Sequence

import pytest

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import answer
from oldfriend.app.believing.correcting import judge
from oldfriend.app.believing.undoing import undo_import
from oldfriend.app.forgetting import forget, preview
from oldfriend.app.forming.tending import read, tend
from oldfriend.app.house import House
from oldfriend.domain.clock import DAY
from oldfriend.domain.messages import Spoken
from oldfriend.memory.batches import Reading, advance_batch, begin_batch, finish_batch
from oldfriend.memory.beliefs import get_known, list_memories
from oldfriend.memory.bringing import Target, Told, bring
from oldfriend.memory.changes import check_fold
from oldfriend.memory.evidence import Words, add_evidence, check_standings
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.memory.log import edit_message, list_messages
from tests.app.conftest import Say
from tests.app.test_forgetting import id_of
from tests.clock import FrozenClock
from tests.memory.forgetting.life import rows_of

pytestmark = pytest.mark.usefixtures("settings_folder")

BAKER = ("I live in Lyon.", "I work as a baker in the oldest bakery of the town.",
         "My dog is called Balto.")  # fmt: skip


async def imported(
    house: House, line: Line, clock: FrozenClock, texts: Sequence[str] = BAKER
) -> int:  # fmt: skip
    """Old talk is brought in and read; the number of the import."""
    told = [
        Told(spoken=Spoken(role="person", speaker="owner", text=text, at=clock() - (9 - n) * DAY,
                           zone="UTC", trust="person", external_id=f"wa{n}"))
        for n, text in enumerate(texts)
    ]  # fmt: skip
    async with house.db.writing() as tx:
        reading = Reading(file="wa.txt", format="text", sha256="5", me="owner", zone="UTC")
        batch = await begin_batch(tx, line.person.id, reading, now=clock())
        target = Target(chat=line.chat, language="en", batch=batch.id)
        kept = await bring(tx, target, told, now=clock())
        await advance_batch(tx, batch, added=kept.added, known=0)
        await finish_batch(tx, batch, now=clock())
    for segment in await tend(house, line.person.id, imported=True):
        await read(house, line.person.id, segment.id)
    clock.tick(minutes=5)
    return batch.number


async def left_of_it(house: House, line: Line) -> str:
    """Everything that is kept of somebody, in which words of the import may stand."""
    held = repr(await rows_of(house.db, line.person.id))
    return " ".join(word for word in ("Lyon", "baker", "Balto") if word in held)


async def tell_more(house: House, line: Line) -> None:
    """Something else is said and read."""
    await answer(house, line, Said(text="I live in Porto."))
    for segment in await tend(house, line.person.id, because="asked"):
        await read(house, line.person.id, segment.id)


async def test_what_was_rejected_goes_with_its_words(house: House, line: Line, say: Say) -> None:
    """Nothing speaks for it, and it keeps nobody's name; what was confirmed stands by itself."""
    await say("My brother Otto plays the cello in the old city orchestra.")
    await say("My sister Ana works as a gardener in the botanical garden.")
    for segment in await tend(house, line.person.id, because="asked"):
        await read(house, line.person.id, segment.id)
    async with house.db.reading() as tx:
        read_in_it = await list_memories(tx, line.person.id)
    for each in read_in_it:
        is_otto = "Otto" in each.memory.text
        await judge(house, line.person.id, "reject" if is_otto else "confirm", each.memory.id)
    names = ("cello", "gardener")
    wish = Wish(ids=tuple([await id_of(house, line, name) for name in names]))

    report = await forget(house, line.person.id, wish)

    assert report.is_proved
    held = repr(await rows_of(house.db, line.person.id))
    assert "Otto" not in held
    async with house.db.reading() as tx:
        left = [each.memory.text for each in await list_memories(tx, line.person.id, live=False)]
    assert left
    assert all("Ana" in text for text in left)


async def test_what_was_rejected_is_no_orphan(house: House, line: Line, say: Say) -> None:
    """Old words that are let go take it with them, while what is believed stays."""
    told = await say("My brother Otto plays the cello in the old city orchestra.")
    for segment in await tend(house, line.person.id, because="asked"):
        await read(house, line.person.id, segment.id)
    async with house.db.reading() as tx:
        believed = await list_memories(tx, line.person.id)
    await judge(house, line.person.id, "reject", believed[0].memory.id)

    report = await forget(house, line.person.id, Wish(ids=(told.said.id,)), orphan=True)

    assert believed[0].memory.id in report.ids
    assert believed[0].memory.id not in report.orphans
    assert report.is_proved


async def test_what_is_left_of_an_import_that_was_undone_is_forgotten(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """By its number, and only that: its messages are gone, its beliefs were kept as history."""
    await tell_more(house, line)
    other = await imported(house, line, clock, ["I live in Oslo.", "I love old ships."])
    await undo_import(house, line.person, other)
    second = await imported(house, line, clock)
    await undo_import(house, line.person, second)
    assert await left_of_it(house, line) == "Lyon baker Balto"

    wish = Wish(batch=second)
    shown = await preview(house, line.person.id, wish)
    report = await forget(house, line.person.id, wish)

    assert report.is_proved
    assert shown.counts == report.counts
    assert report.counts["memories"] >= len(BAKER) - 1
    async with house.db.reading() as tx:
        ended = await list_memories(tx, line.person.id, live=False)
        assert await check_fold(tx, line.person.id) == []
    assert await left_of_it(house, line) == ""
    assert {"Lives in Oslo.", "Lives in Porto."} <= {each.memory.text for each in ended}


async def test_what_says_the_same_in_an_import_that_was_undone_goes_along(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Nothing that is kept speaks for it, and it is what somebody wants forgotten."""
    await tell_more(house, line)
    await undo_import(house, line.person, await imported(house, line, clock))
    clock.tick(minutes=5)
    again = await imported(house, line, clock)

    report = await forget(house, line.person.id, Wish(batch=again))

    assert report.is_proved
    assert await left_of_it(house, line) == ""
    async with house.db.reading() as tx:
        (home,) = await list_memories(tx, line.person.id)
        assert await check_fold(tx, line.person.id) == []
    assert home.memory.text == "Lives in Porto."


async def test_an_import_that_is_undone_takes_its_quotes_along(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Also of what was edited since; a belief that other words support, too, stands by these."""
    await tell_more(house, line)
    number = await imported(house, line, clock)
    person = line.person.id
    async with house.db.writing() as tx:
        said = {each.text: each for each in await list_messages(tx, person)}
        edited = await edit_message(
            tx, person, said[BAKER[2]].id, "My dog is called Rex.", now=clock()
        )
        (home,) = [e for e in await list_memories(tx, person) if e.memory.value == "Porto"]
        words = [Words(source=each, quote=each.text) for each in (said[BAKER[1]], edited) if each]
        await add_evidence(tx, person, home.memory.id, words, extractor="borrow/1", now=clock())
        stood_by = (await get_known(tx, person, home.memory.id)).standing.times_seen
    await undo_import(house, line.person, number)

    async with house.db.reading() as tx:
        assert await check_standings(tx, person) == []
        stands_by = (await get_known(tx, person, home.memory.id)).standing.times_seen
    assert (stood_by, stands_by) == (3, 1)
    assert not [row for row in (await rows_of(house.db, person))["evidence"] if "Rex" in repr(row)]
