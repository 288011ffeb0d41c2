"""Whatever is forgotten is gone, from everywhere; nothing else is, and it does not come back."""

from pathlib import Path

import pytest

from oldfriend.app.choices.settings import Settings
from oldfriend.app.forgetting import Report, forget
from oldfriend.app.forgotten import forgotten_of
from oldfriend.app.forming.tending import read, tend
from oldfriend.app.house import House
from oldfriend.app.wiring import open_house
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import new_id
from oldfriend.memory.beliefs import list_memories
from oldfriend.memory.changes import check_fold
from oldfriend.memory.evidence import check_standings
from oldfriend.memory.forgetting.choosing import Wish, choose
from oldfriend.memory.log import list_messages
from oldfriend.memory.segments import list_segments
from oldfriend.prompts.phrasebook import SPOKEN, phrasebook
from tests.clock import FrozenClock
from tests.conftest import SIZE
from tests.memory.forgetting.life import (
    NAMES,
    SAYINGS,
    Life,
    begin_life,
    bring_again,
    live,
    rows_of,
)

LIVES, WISHES, TURNS = (40, 5, 40) if SIZE == "full" else (3, 4, 16)

TOLD = (
    "I live in {word}, in a small flat by the river.", "I moved to {word} last week!",
    "My sister {name} is a nurse, and she works nights.", "{name} and I had a terrible fight.",
    "I love {word}, and I can't stand coriander.", "My dog {word} died. I am heartbroken.",
    "I promised {name} to bring the kiln back on Friday.", "I work as a potter in {word}.",
)  # fmt: skip

TAKEN_BACK = {phrasebook(language).say["taken_back"] for language in SPOKEN}


pytestmark = pytest.mark.usefixtures("settings_folder")


@pytest.mark.parametrize("seed", range(LIVES))
async def test_what_is_forgotten_is_gone_and_nothing_else(
    settings: Settings, clock: FrozenClock, seed: int
) -> None:
    """Looked for without the help of what has removed it."""
    async with open_house(settings, clock=clock) as house:
        life = await begin_life(house.db, clock, "Nora", seed)
        other = await begin_life(house.db, clock, "Omar", seed + 1000)
        await live(life, turns=TURNS)
        await tell(house, life)
        await live(other, turns=4)
        theirs = await rows_of(house.db, other.person.id)
        gone: set[str] = set()
        for _ in range(WISHES):
            gone |= await forget_something(house, life)
            assert await rows_of(house.db, other.person.id) == theirs
        async with house.db.reading() as tx:
            forgotten = await forgotten_of(house.settings, tx, life.person.id)
        await bring_again(life, forgotten)
        kept = await everything_in(house, life)
        assert [text for text in gone if text in kept] == []
        assert await house.db.check() == []
    if settings.database.startswith("sqlite"):
        held = bytes_in(settings.data)
        assert [text for text in gone if text.encode() in held] == []


async def forget_something(house: House, life: Life) -> set[str]:
    """Forget something at random; the telling texts that are gone by that."""
    person = life.person.id
    wish = await wish_at_random(house, life)
    async with house.db.reading() as tx:
        try:
            seqs = (await choose(tx, person, wish)).seqs
        except (InvalidInput, NotFound):  # two of the same name, or nobody any more
            return set()
        rows = await tx.rows("SELECT seq, text, role FROM message WHERE person = :p", p=person)
    going = [row for row in rows if row[0] in seqs and len(row[1]) > 40]
    kept = "\n".join(text for seq, text, role in rows if seq not in seqs and role != "companion")
    said_again = {text for seq, text, _ in rows if seq not in seqs}
    orphan = life.random.random() < 0.3
    report = await forget(house, person, wish, orphan=orphan)

    assert report.is_proved, (wish, report.left)
    assert report.log_is_empty == house.settings.database.startswith("sqlite")
    await assert_sound(house, life, report)
    await form(house, life)
    await assert_sound(house, life, report)
    believed = await everything_in(house, life) if orphan else ""
    return {
        text
        for _, text, role in going
        if text not in {*SAYINGS, *TAKEN_BACK}
        and text.strip("“”") not in kept
        and text not in believed
        and not (role == "companion" and text in said_again)
    }


async def tell(house: House, life: Life) -> None:
    """Say what can be understood by rules, and have all of it read."""
    for say in life.random.sample(TOLD, k=len(TOLD)):
        name, word = life.random.choice(NAMES), life.word().capitalize()
        async with house.db.writing() as tx:
            text = say.format(name=name, word=word)
            await life.says(tx, "person", text, turn=new_id(life.clock()))
    before = len(life.memories)
    await form(house, life)
    async with house.db.reading() as tx:
        assert len(await list_memories(tx, life.person.id)) > before


async def form(house: House, life: Life) -> None:
    """Have read by rules whatever waits to be read, as after a pause."""
    await tend(house, life.person.id, because="asked")
    async with house.db.reading() as tx:
        waiting = await list_segments(tx, life.person.id, status=["waiting"])
    for segment in waiting:
        await read(house, life.person.id, segment.id)


async def wish_at_random(house: House, life: Life) -> Wish:
    """Something to forget."""
    random = life.random
    async with house.db.reading() as tx:
        messages = await list_messages(tx, life.person.id, limit=1000)
        objects = await tx.rows(
            "SELECT DISTINCT object FROM change WHERE person = :p ORDER BY object", p=life.person.id
        )
    kind = random.choice(("message", "message", "object", "about", "between", "batch", "all"))
    if kind == "object" and objects:
        return Wish(ids=(random.choice(objects)[0],))
    if kind == "about":
        return Wish(about=random.choice([each.name for each in life.entities] or NAMES))
    if kind == "between" and messages:
        first, last = sorted(random.choices(messages, k=2), key=lambda each: each.at)
        return Wish(since=first.at, until=min(last.at, first.at + (last.at - first.at) // 4))
    if kind == "batch":
        return Wish(batch=1)
    if (kind == "all" and random.random() < 0.3) or not messages:
        return Wish(everything=True)
    some = random.sample(messages, k=min(len(messages), random.randint(1, 3)))
    return Wish(ids=tuple(each.id for each in some))


async def assert_sound(house: House, life: Life, report: Report) -> None:
    """What is left is what its decisions and its evidence make it, and points to nothing gone."""
    async with house.db.reading() as tx:
        assert await check_fold(tx, life.person.id) == []
        assert await check_standings(tx, life.person.id) == []
    kept = await everything_in(house, life)
    assert [each for each in report.ids if each in kept] == []


async def everything_in(house: House, life: Life) -> str:
    """All texts of all rows that are the person's."""
    rows = await rows_of(house.db, life.person.id)
    return "\n".join(
        cell for of_table in rows.values() for row in of_table for cell in row
        if isinstance(cell, str)
    )  # fmt: skip


def bytes_in(folder: Path) -> bytes:
    """Everything that the files of a folder hold; nobody has them open."""
    return b"\n".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())
