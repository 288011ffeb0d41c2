"""The same log and reader: the same memory. Another reader: exactly what it reads otherwise."""

import json
from dataclasses import replace
from functools import cache

import pytest

from oldfriend.app.believing import correcting
from oldfriend.app.choices.sections import Budget
from oldfriend.app.forgetting import forget
from oldfriend.app.house import House
from oldfriend.app.replaying.carrying import CARRIED, JOURNAL, LEFT_BEHIND
from oldfriend.app.replaying.going import replay
from oldfriend.app.replaying.wanting import Wanted
from oldfriend.db.database import Database
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import AllowanceUsedUp, InvalidInput
from oldfriend.evals.lives.life import Life
from oldfriend.evals.lives.living import calendar_for, with_small_model
from oldfriend.evals.lives.loading import load_life
from oldfriend.ledger.spending import Cap, spent_since
from oldfriend.llm.model import Model, Request, Usage
from oldfriend.llm.scripted import Scripted, ScriptedModel
from oldfriend.memory.beliefs import list_memories
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.memory.log import list_messages
from oldfriend.memory.people import set_language
from oldfriend.memory.segments import list_segments
from oldfriend.transfer.exporting import export_lines
from tests.app.replaying.lives import (
    DEEDS,
    answer_of,
    compared,
    derived,
    faults_of,
    findings,
    live,
    owner_of,
    reader,
)
from tests.clock import FrozenClock
from tests.conftest import SQLITE_ONLY

DAYS = 10
life_of = cache(load_life)


async def exported(db: Database) -> list[str]:
    """Everything that is kept."""
    return [line async for line in export_lines(db, person=None, now=0)]


@SQLITE_ONLY
async def test_who_speaks_another_language_by_now_is_read_as_then(
    house: House, second: House
) -> None:
    """Each stretch is in the language of its own words."""
    life = life_of("es")
    await live(house, life, model=None, days=4)
    async with house.db.writing() as tx:
        await set_language(tx, await owner_of(house.db), "de")

    await derived(house.db, second, model=None)

    assert findings(await compared(house.db, second.db)) == []


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_same_reader_is_not_asked_again_and_believes_the_same(
    house: House, second: House, language: str
) -> None:
    """Nothing differs, ever; every answer was there; and what was decided stands."""
    life = life_of(language)
    await live(house, life, model=reader(life), days=DAYS, deeds=DEEDS, seed=2)

    told = await derived(house.db, second, model=reader(life))

    assert (told.asked, told.failed, told.lost) == (0, 0, [])
    assert told.reused > 0
    assert told.upheld > 0
    assert findings(await compared(house.db, second.db)) == []
    assert await faults_of(second.db) == []


@SQLITE_ONLY
async def test_rules_believe_the_same(house: House, second: House) -> None:
    """Without any model nobody is asked, and nothing differs."""
    life = life_of("es")
    await live(house, life, model=None, days=DAYS, deeds=DEEDS, seed=3)

    told = await derived(house.db, second, model=None)

    assert (told.asked, told.reused) == (0, 0)
    assert findings(await compared(house.db, second.db)) == []
    assert await faults_of(second.db) == []


@SQLITE_ONLY
async def test_what_was_forgotten_is_asked_anew_and_stays_forgotten(
    house: House, second: House
) -> None:
    """Answers that had seen it are gone; nothing of it comes back, and nothing else differs."""
    life = life_of("en")
    await live(house, life, model=reader(life), days=DAYS, deeds=("forget", "note"), seed=1)

    told = await derived(house.db, second, model=reader(life))

    assert told.asked > 0
    assert findings(await compared(house.db, second.db)) == []


@SQLITE_ONLY
async def test_beliefs_that_outlived_their_words_come_over(house: House, second: House) -> None:
    """Nobody can read them again."""
    life = life_of("en")
    await live(house, life, model=reader(life), days=DAYS, deeds=("orphan",), seed=2)

    await derived(house.db, second, model=reader(life))

    assert findings(await compared(house.db, second.db)) == []
    assert await faults_of(second.db) == []


def deaf_to(life: Life, word: str) -> Model:
    """Another model, which does not make anything of some word."""

    def answer(request: Request) -> str:
        given = answer_of(life, request)
        try:
            parts = json.loads(given)
        except ValueError:
            return given
        for name, items in parts.items():
            if isinstance(items, list):
                parts[name] = [each for each in items if word not in json.dumps(each)]
        return json.dumps(parts)

    return ScriptedModel(answer, name="scripted:deaf")


@SQLITE_ONLY
async def test_another_model_differs_in_exactly_what_it_reads_otherwise(
    house: House, second: House
) -> None:
    """It is asked everything, and what it alone has missed is named, and nothing else."""
    life = life_of("en")
    await live(house, life, model=reader(life), days=DAYS)

    told = await derived(house.db, second, model=deaf_to(life, "coffee"))

    assert (told.reused, told.asked > 0) == (0, True)
    differs = findings(await compared(house.db, second.db))
    assert differs
    assert all(how == "only in 1" and "coffee" in what for how, what in differs)
    assert await compared(second.db, second.db) != []
    assert findings(await compared(second.db, second.db)) == []


@SQLITE_ONLY
async def test_what_the_person_decided_holds_where_the_other_model_read_nothing(
    house: House, second: House, clock: FrozenClock
) -> None:
    """What they pinned comes over with its words; what they rejected is not believed, or again."""
    life = life_of("en")
    await live(house, life, model=reader(life), days=DAYS)
    person = await owner_of(house.db)
    async with house.db.reading() as tx:
        known = [each.memory for each in await list_memories(tx, person)]
    pinned = next(each for each in known if "coffee" in each.text)
    rejected = next(each for each in known if each.kind == "fact" and each.id != pinned.id)
    clock.now = known[-1].learned_at + DAY
    await correcting.judge(house, person, "pin", pinned.id)
    await correcting.judge(house, person, "reject", rejected.id)
    undone = next(each for each in known if each.kind == "preference" and each.id != pinned.id)
    await correcting.judge(house, person, "reject", undone.id)
    await correcting.judge(house, person, "unreject", undone.id)

    await derived(house.db, second, model=deaf_to(life, "coffee"))

    async with second.db.reading() as tx:
        there = [each.memory for each in await list_memories(tx, person, live=False)]
    (kept,) = [each for each in there if each.id == pinned.id]
    assert (kept.is_pinned, kept.text, kept.ended_at) == (True, pinned.text, None)
    (gone,) = [each for each in there if each.text == rejected.text]
    assert gone.status == "rejected"
    assert [each.status for each in there if each.text == undone.text] == ["active"]


@SQLITE_ONLY
async def test_what_was_believed_before_a_day_stands(house: House, second: House) -> None:
    """Only what was read since is read again; of the rest not even an answer is looked up."""
    life = life_of("en")
    await live(house, life, model=reader(life), days=DAYS, deeds=DEEDS, seed=4)
    person = await owner_of(house.db)
    async with house.db.reading() as tx:
        segments = await list_segments(tx, person)
    since = segments[len(segments) // 2].cut_at

    told = await derived(house.db, second, model=reader(life), wanted=Wanted(since=since))

    assert 0 < told.read < len(segments)
    assert told.asked == 0
    assert findings(await compared(house.db, second.db)) == []
    assert await faults_of(second.db) == []


class CutOff(Exception):
    """The power went."""


def after_one_step(done: int, _total: int) -> None:
    """Let the power go when something was done."""
    if done:
        raise CutOff


@SQLITE_ONLY
async def test_it_goes_on_wherever_it_was_broken_off(house: House, second: House) -> None:
    """Cut off after every single step, it comes to the same."""
    life = life_of("en")
    await live(house, life, model=reader(life), days=4, deeds=DEEDS, seed=5)
    there, cut_off, is_done = with_small_model(second, reader(life)), 0, False

    while not is_done:
        try:
            await replay(house.db, there, Wanted(), show=after_one_step)
            is_done = True
        except CutOff:
            cut_off += 1

    assert cut_off > 10
    assert findings(await compared(house.db, second.db)) == []
    assert await faults_of(second.db) == []


@SQLITE_ONLY
async def test_it_stops_at_its_limit_and_goes_on_with_another(house: House, second: House) -> None:
    """So many tokens in all; what was paid for is not paid for again."""
    life = life_of("en")
    await live(house, life, model=reader(life), days=4)
    other = costly(life)

    with pytest.raises(AllowanceUsedUp, match="limit"):
        await derived(house.db, second, model=other, wanted=Wanted(limit=Cap(tokens=250)))
    asked_first = len(other.asked)
    await derived(house.db, second, model=other, wanted=Wanted(limit=Cap(tokens=1_000_000)))

    assert asked_first == 3
    async with second.db.reading() as tx:
        spent = await spent_since(tx, 0)
    assert (spent.calls, spent.tokens) == (len(other.asked), 100 * len(other.asked))
    assert findings(await compared(house.db, second.db)) == []


def costly(life: Life) -> ScriptedModel:
    """Another model that answers the same, for a hundred tokens each."""
    return ScriptedModel(
        lambda request: Scripted(
            text=answer_of(life, request), usage=Usage(input=60, output=40)
        ),
        name="scripted:costly",
    )  # fmt: skip


@SQLITE_ONLY
async def test_the_day_has_one_limit_for_both(house: House, second: House) -> None:
    """What was spent today in the first database counts."""
    life = life_of("en")
    first = costly(life)
    await live(house, life, model=first, days=3)
    budget = Budget(background_tokens_per_day=100)
    second = replace(second, settings=replace(second.settings, budget=budget))
    second = replace(second, clock=lambda: calendar_for(life).now)

    with pytest.raises(AllowanceUsedUp, match="Today"):
        await derived(house.db, second, model=reader(life))


async def test_a_database_with_anything_in_it_is_refused(house: House, second: House) -> None:
    """Neither another's memory nor another replay is written over; the source is left alone."""
    life = life_of("en")
    await live(house, life, model=None, days=2)
    await live(second, life, model=None, days=1)
    before = await exported(house.db)

    with pytest.raises(InvalidInput, match="holds something"):
        await derived(house.db, second, model=None)

    assert await exported(house.db) == before


@SQLITE_ONLY
async def test_a_replay_goes_on_only_as_it_was_begun(house: House, second: House) -> None:
    """With the same model and dates; and not where something was forgotten meanwhile."""
    life = life_of("en")
    await live(house, life, model=None, days=3)
    with pytest.raises(CutOff):
        await replay(house.db, second, Wanted(), show=after_one_step)

    with pytest.raises(InvalidInput, match="begun with"):
        await derived(house.db, second, model=None, wanted=Wanted(model="rules"))
    person = await owner_of(house.db)
    async with house.db.reading() as tx:
        said = await list_messages(tx, person, limit=1)
    await forget(house, person, Wish(ids=(said[0].id,)))
    with pytest.raises(InvalidInput, match="forgotten"):
        await derived(house.db, second, model=None)


async def test_every_table_comes_over_or_is_known_to_stay(house: House) -> None:
    """Whoever adds one says which."""
    async with house.db.reading() as tx:
        tables = {table.name for table in await tx.tables()}

    assert tables <= {*CARRIED, *JOURNAL, *LEFT_BEHIND}


async def test_from_one_engine_into_the_other(house: House, elsewhere: House) -> None:
    """It makes no difference."""
    life = life_of("en")
    await live(house, life, model=reader(life), days=4, deeds=DEEDS, seed=6)

    told = await derived(house.db, elsewhere, model=reader(life))

    assert told.asked == 0
    assert findings(await compared(house.db, elsewhere.db)) == []
