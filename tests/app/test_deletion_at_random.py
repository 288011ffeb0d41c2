"""Whatever is forgotten is gone, from everywhere; nothing else is, and it does not come back."""

from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.app.deletion_filter import load_deletion_filter
from oldfriend.config.settings import Settings
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import new_id
from oldfriend.forgetting.delete import ForgetReport, forget
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.deletion.selection import DeletionRequest, select_for_deletion
from oldfriend.memory.evidence import list_stats_mismatches
from oldfriend.memory.journal import list_view_mismatches
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.segments import list_segments
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.runtime.wiring import open_app
from tests.clock import FrozenClock
from tests.conftest import SIZE
from tests.engines import both_engines
from tests.memory.deletion.life import (
    NAMES,
    NO_MESSAGE,
    SAYINGS,
    Life,
    begin_life,
    bring_again,
    live,
    rows_of,
)

engine = both_engines


LIVES, WISHES, TURNS = (40, 5, 40) if SIZE == "full" else (3, 4, 16)

TOLD = (
    "I live in {word}, in a small flat by the river.",
    "I moved to {word} last week!",
    "My sister {name} is a nurse, and she works nights.",
    "{name} and I had a terrible fight.",
    "I love {word}, and I can't stand coriander.",
    "My dog {word} died. I am heartbroken.",
    "I promised {name} to bring the kiln back on Friday.",
    "I work as a potter in {word}.",
)

TAKEN_BACK = {load_phrases(language).phrases["taken_back"] for language in OFFLINE_LANGUAGES}


pytestmark = pytest.mark.usefixtures("settings_folder")


@pytest.mark.parametrize("seed", range(LIVES))
async def test_randomly_forgotten_objects_are_erased_everywhere_and_nothing_else(
    settings: Settings, clock: FrozenClock, seed: int
) -> None:
    """Looked for without the help of what has removed it."""
    async with open_app(settings, clock=clock) as app:
        life = await begin_life(app.db, clock, "Nora", seed)
        other = await begin_life(app.db, clock, "Omar", seed + 1000)
        await live(life, turns=TURNS)
        await tell(app, life)
        await live(other, turns=4)
        theirs = await rows_of(app.db, other.person.id)
        gone: set[str] = set()
        for _ in range(WISHES):
            gone |= await forget_something(app, life)
            assert await rows_of(app.db, other.person.id) == theirs
        async with app.db.begin_read() as tx:
            forgotten = await load_deletion_filter(app.settings, tx, life.person.id)
        await bring_again(life, forgotten)
        kept = await everything_in(app, life)
        assert [text for text in gone if text in kept] == []
        assert await app.db.check_integrity() == []
    if settings.database.startswith("sqlite"):
        held = bytes_in(settings.data)
        assert [text for text in gone if text.encode() in held] == []


async def forget_something(app: AppContext, life: Life) -> set[str]:
    """Forget something at random; the telling texts that are gone by that."""
    person = life.person.id
    wish = await wish_at_random(app, life)
    async with app.db.begin_read() as tx:
        try:
            seqs = (await select_for_deletion(tx, person, wish)).seqs
        except (InvalidInput, NotFound):  # two of the same name, or nobody any more
            return set()
        rows = await tx.rows("SELECT seq, text, role FROM message WHERE person = :p", p=person)
    going = [row for row in rows if row[0] in seqs and len(row[1]) > 40]
    kept = "\n".join(text for seq, text, role in rows if seq not in seqs and role != "companion")
    said_again = {text for seq, text, _ in rows if seq not in seqs}
    orphan = life.random.random() < 0.3
    report = await forget(app, person, wish, orphan=orphan)

    assert report.is_proved, (wish, report.left)
    assert report.log_is_empty == app.settings.database.startswith("sqlite")
    await assert_sound(app, life, report)
    await form(app, life)
    await assert_sound(app, life, report)
    believed = await everything_in(app, life) if orphan else ""
    return {
        text
        for _, text, role in going
        if text not in {*SAYINGS, *TAKEN_BACK}
        and text.strip("“”") not in kept
        and text not in believed
        and not (role == "companion" and text in said_again)
    }


async def tell(app: AppContext, life: Life) -> None:
    """Say what can be understood by rules, and have all of it read."""
    for say in life.random.sample(TOLD, k=len(TOLD)):
        name, word = life.random.choice(NAMES), life.word().capitalize()
        async with app.db.begin_write() as tx:
            text = say.format(name=name, word=word)
            await life.says(tx, "person", text, turn=new_id(life.clock()))
    before = len(life.memories)
    await form(app, life)
    async with app.db.begin_read() as tx:
        assert len(await list_memories(tx, life.person.id)) > before


async def form(app: AppContext, life: Life) -> None:
    """Have read by rules whatever waits to be read, as after a pause."""
    await schedule_learning(app.db, app.clock, app.settings, life.person.id, cut_reason="asked")
    async with app.db.begin_read() as tx:
        waiting = await list_segments(tx, life.person.id, status=["waiting"])
    for segment in waiting:
        await consolidate_segment(app, life.person.id, segment.id)


async def wish_at_random(app: AppContext, life: Life) -> DeletionRequest:
    """Something to forget."""
    random = life.random
    async with app.db.begin_read() as tx:
        messages = await list_messages(tx, life.person.id, limit=1000)
        objects = await tx.rows(
            "SELECT DISTINCT object FROM change WHERE person = :p ORDER BY object", p=life.person.id
        )
    kind = random.choice(("message", "message", "object", "about", "between", "batch", "all"))
    if kind == "object" and objects:
        return DeletionRequest(ids=(random.choice(objects)[0],))
    if kind == "about":
        return DeletionRequest(about=random.choice([each.name for each in life.entities] or NAMES))
    if kind == "between" and messages:
        first, last = sorted(random.choices(messages, k=2), key=lambda each: each.at)
        return DeletionRequest(
            since=first.at, until=min(last.at, first.at + (last.at - first.at) // 4)
        )
    if kind == "batch":
        return DeletionRequest(batch=1)
    if (kind == "all" and random.random() < 0.3) or not messages:
        return DeletionRequest(everything=True)
    some = random.sample(messages, k=min(len(messages), random.randint(1, 3)))
    return DeletionRequest(ids=tuple(each.id for each in some))


async def assert_sound(app: AppContext, life: Life, report: ForgetReport) -> None:
    """What is left is what its decisions and its evidence make it, and points to nothing gone."""
    async with app.db.begin_read() as tx:
        assert await list_view_mismatches(tx, life.person.id) == []
        assert await list_stats_mismatches(tx, life.person.id) == []
    kept = await everything_in(app, life)
    assert [each for each in report.ids if each in kept] == []
    assert NO_MESSAGE not in kept


async def everything_in(app: AppContext, life: Life) -> str:
    """All texts of all rows that are the person's."""
    rows = await rows_of(app.db, life.person.id)
    return "\n".join(
        cell
        for of_table in rows.values()
        for row in of_table
        for cell in row
        if isinstance(cell, str)
    )


def bytes_in(folder: Path) -> bytes:
    """Everything that the files of a folder hold; nobody has them open."""
    return b"\n".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())
