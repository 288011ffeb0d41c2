"""The same log and reader: the same memory. Another reader: exactly what it reads otherwise."""

import json
from dataclasses import replace
from functools import cache

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs import correct as correcting
from oldfriend.config.settings_schema import BudgetSettings
from oldfriend.db.database import Database
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import AllowanceUsedUp, InvalidInput
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.re_extraction import plan_reextraction, schedule_reextraction
from oldfriend.llm.model import CompletionRequest, LanguageModel, TokenUsage
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import set_language
from oldfriend.memory.segments import list_segments
from oldfriend.replay.replay_run import run_replay
from oldfriend.replay.replay_types import ReplayRequest
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now, process_due_segments
from oldfriend.transfer.export_run import export_lines
from oldfriend.usage.costs import SpendCap, sum_usage
from oldfriend_evals.lives.life import Life
from oldfriend_evals.lives.life_files import load_life
from oldfriend_evals.lives.simulation import build_calendar, use_small_model
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY, both_engines
from tests.replay.lives import (
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

engine = both_engines


DAYS = 10
life_of = cache(load_life)


async def exported(db: Database) -> list[str]:
    """Everything that is kept."""
    return [line async for line in export_lines(db, person=None, now=0)]


@pytest.mark.slow
@SQLITE_ONLY
async def test_replay_reads_segments_in_their_original_language(
    app: AppContext, second: AppContext
) -> None:
    """Each stretch is in the language of its own words."""
    life = life_of("es")
    await live(app, life, model=None, days=4)
    async with app.db.begin_write() as tx:
        await set_language(tx, await owner_of(app.db), "de")

    await derived(app.db, second, model=None)

    assert findings(await compared(app.db, second.db)) == []


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_replay_with_the_same_model_reuses_answers_and_has_no_differences(
    app: AppContext, second: AppContext, language: str
) -> None:
    """Nothing differs, ever; every answer was there; and what was decided stands."""
    life = life_of(language)
    await live(app, life, model=reader(life), days=DAYS, deeds=DEEDS, seed=2)

    told = await derived(app.db, second, model=reader(life))

    assert (told.asked, told.failed, told.lost) == (0, 0, [])
    assert told.reused > 0
    assert told.upheld > 0
    assert findings(await compared(app.db, second.db)) == []
    assert await faults_of(second.db) == []


@SQLITE_ONLY
async def test_replay_with_rules_has_no_differences(app: AppContext, second: AppContext) -> None:
    """Without any model nobody is asked, and nothing differs."""
    life = life_of("es")
    await live(app, life, model=None, days=DAYS, deeds=DEEDS, seed=3)

    told = await derived(app.db, second, model=None)

    assert (told.asked, told.reused) == (0, 0)
    assert findings(await compared(app.db, second.db)) == []
    assert await faults_of(second.db) == []


@pytest.mark.slow
@SQLITE_ONLY
async def test_replay_does_not_bring_back_what_was_forgotten(
    app: AppContext, second: AppContext
) -> None:
    """Answers that had seen it are gone; nothing of it comes back, and nothing else differs."""
    life = life_of("en")
    await live(app, life, model=reader(life), days=DAYS, deeds=("forget", "note"), seed=1)

    told = await derived(app.db, second, model=reader(life))

    assert told.asked > 0
    assert findings(await compared(app.db, second.db)) == []


@pytest.mark.slow
@SQLITE_ONLY
async def test_replay_copies_orphan_beliefs(app: AppContext, second: AppContext) -> None:
    """Nobody can read them again."""
    life = life_of("en")
    await live(app, life, model=reader(life), days=DAYS, deeds=("orphan",), seed=2)

    await derived(app.db, second, model=reader(life))

    assert findings(await compared(app.db, second.db)) == []
    assert await faults_of(second.db) == []


def deaf_to(life: Life, word: str) -> LanguageModel:
    """Another model, which does not make anything of some word."""

    def answer(request: CompletionRequest) -> str:
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


@pytest.mark.slow
@SQLITE_ONLY
async def test_replay_with_another_model_reports_exactly_its_differences(
    app: AppContext, second: AppContext
) -> None:
    """It is asked everything, and what it alone has missed is named, and nothing else."""
    life = life_of("en")
    await live(app, life, model=reader(life), days=DAYS)

    told = await derived(app.db, second, model=deaf_to(life, "coffee"))

    assert (told.reused, told.asked > 0) == (0, True)
    differs = findings(await compared(app.db, second.db))
    assert differs
    assert all(how == "only in 1" and "coffee" in what for how, what in differs)
    assert await compared(second.db, second.db) != []
    assert findings(await compared(second.db, second.db)) == []


@pytest.mark.slow
@SQLITE_ONLY
async def test_replay_with_another_model_keeps_the_persons_decisions(
    app: AppContext, second: AppContext, clock: FrozenClock
) -> None:
    """What they pinned comes over with its words; what they rejected is not believed, or again."""
    life = life_of("en")
    await live(app, life, model=reader(life), days=DAYS)
    person = await owner_of(app.db)
    async with app.db.begin_read() as tx:
        known = [each.memory for each in await list_memories(tx, person)]
    pinned = next(each for each in known if "coffee" in each.text)
    rejected = next(each for each in known if each.kind == "fact" and each.id != pinned.id)
    clock.now = known[-1].learned_at + DAY
    await correcting.apply_belief_action(app.db, app.clock, person, "pin", pinned.id)
    await correcting.apply_belief_action(app.db, app.clock, person, "reject", rejected.id)
    undone = next(each for each in known if each.kind == "preference" and each.id != pinned.id)
    await correcting.apply_belief_action(app.db, app.clock, person, "reject", undone.id)
    await correcting.apply_belief_action(app.db, app.clock, person, "unreject", undone.id)

    await derived(app.db, second, model=deaf_to(life, "coffee"))

    async with second.db.begin_read() as tx:
        there = [each.memory for each in await list_memories(tx, person, live=False)]
    (kept,) = [each for each in there if each.id == pinned.id]
    assert (kept.is_pinned, kept.text, kept.ended_at) == (True, pinned.text, None)
    (gone,) = [each for each in there if each.text == rejected.text]
    assert gone.status == "rejected"
    assert [each.status for each in there if each.text == undone.text] == ["active"]


@pytest.mark.slow
@SQLITE_ONLY
async def test_replay_since_a_date_rereads_only_later_segments(
    app: AppContext, second: AppContext
) -> None:
    """Only what was read since is read again; of the rest not even an answer is looked up."""
    life = life_of("en")
    await live(app, life, model=reader(life), days=DAYS, deeds=DEEDS, seed=4)
    person = await owner_of(app.db)
    async with app.db.begin_read() as tx:
        segments = await list_segments(tx, person)
    since = segments[len(segments) // 2].cut_at

    told = await derived(app.db, second, model=reader(life), wanted=ReplayRequest(since=since))

    assert 0 < told.read < len(segments)
    assert told.asked == 0
    assert findings(await compared(app.db, second.db)) == []
    assert await faults_of(second.db) == []


class CutOff(Exception):
    """The power went."""


def after_one_step(done: int, _total: int) -> None:
    """Let the power go when something was done."""
    if done:
        raise CutOff


@SQLITE_ONLY
async def test_interrupted_replay_resumes_with_the_same_result(
    app: AppContext, second: AppContext
) -> None:
    """Cut off after every single step, it comes to the same."""
    life = life_of("en")
    await live(app, life, model=reader(life), days=4, deeds=DEEDS, seed=5)
    there, cut_off, is_done = use_small_model(second, reader(life)), 0, False

    while not is_done:
        try:
            await run_replay(app.db, there, ReplayRequest(), on_progress=after_one_step)
            is_done = True
        except CutOff:
            cut_off += 1

    assert cut_off > 10
    assert findings(await compared(app.db, second.db)) == []
    assert await faults_of(second.db) == []


@SQLITE_ONLY
async def test_replay_stops_at_its_token_limit_and_resumes_with_a_higher_one(
    app: AppContext, second: AppContext
) -> None:
    """So many tokens in all; what was paid for is not paid for again."""
    life = life_of("en")
    await live(app, life, model=reader(life), days=4)
    other = costly(life)

    with pytest.raises(AllowanceUsedUp, match="limit"):
        await derived(app.db, second, model=other, wanted=ReplayRequest(limit=SpendCap(tokens=250)))
    asked_first = len(other.requests)
    await derived(
        app.db, second, model=other, wanted=ReplayRequest(limit=SpendCap(tokens=1_000_000))
    )

    assert asked_first == 3
    async with second.db.begin_read() as tx:
        spent = await sum_usage(tx, 0)
    assert (spent.calls, spent.tokens) == (len(other.requests), 100 * len(other.requests))
    assert findings(await compared(app.db, second.db)) == []


def costly(life: Life) -> ScriptedModel:
    """Another model that answers the same, for a hundred tokens each."""
    return ScriptedModel(
        lambda request: ScriptedReply(
            text=answer_of(life, request), usage=TokenUsage(input=60, output=40)
        ),
        name="scripted:costly",
    )


@SQLITE_ONLY
async def test_replay_counts_the_source_databases_spend_of_the_day(
    app: AppContext, second: AppContext
) -> None:
    """What was spent today in the first database counts."""
    life = life_of("en")
    first = costly(life)
    await live(app, life, model=first, days=3)
    budget = BudgetSettings(background_tokens_per_day=100)
    second = replace(second, settings=replace(second.settings, budget=budget))
    second = replace(second, clock=lambda: build_calendar(life).now)

    with pytest.raises(AllowanceUsedUp, match="Today"):
        await derived(app.db, second, model=reader(life))


async def test_replay_into_a_nonempty_database_is_refused(
    app: AppContext, second: AppContext
) -> None:
    """Neither another's memory nor another replay is written over; the source is left alone."""
    life = life_of("en")
    await live(app, life, model=None, days=2)
    await live(second, life, model=None, days=1)
    before = await exported(app.db)

    with pytest.raises(InvalidInput, match="holds something"):
        await derived(app.db, second, model=None)

    assert await exported(app.db) == before


@SQLITE_ONLY
async def test_replay_cannot_resume_with_other_options_or_after_forgetting(
    app: AppContext, second: AppContext
) -> None:
    """With the same model and dates; and not where something was forgotten meanwhile."""
    life = life_of("en")
    await live(app, life, model=None, days=3)
    with pytest.raises(CutOff):
        await run_replay(app.db, second, ReplayRequest(), on_progress=after_one_step)

    with pytest.raises(InvalidInput, match="begun with"):
        await derived(app.db, second, model=None, wanted=ReplayRequest(model="rules"))
    person = await owner_of(app.db)
    async with app.db.begin_read() as tx:
        said = await list_messages(tx, person, limit=1)
    await forget(app, person, DeletionRequest(ids=(said[0].id,)))
    with pytest.raises(InvalidInput, match="forgotten"):
        await derived(app.db, second, model=None)


@pytest.mark.slow
async def test_replay_into_another_engine_has_no_differences(
    app: AppContext, elsewhere: AppContext
) -> None:
    """It makes no difference."""
    life = life_of("en")
    await live(app, life, model=reader(life), days=4, deeds=DEEDS, seed=6)

    told = await derived(app.db, elsewhere, model=reader(life))

    assert told.asked == 0
    assert findings(await compared(app.db, elsewhere.db)) == []


READ_BY_MODEL = {
    "self_check": {"missed_peak": "none", "attribution": "the person's own words"},
    "facts": [
        {
            "key": "boat",
            "value": "an old boat",
            "text": "Owns an old boat at the pier since 2019.",
            "quotes": [{"message": "m3", "text": "The old boat down at the pier is mine"}],
        }
    ],
}


@pytest.mark.parametrize("by_rules_before", [False, True])
@pytest.mark.parametrize("by_rules_after", [False, True])
async def test_replay_reads_a_segment_with_each_reader_that_found_something_in_it(
    app: AppContext,
    second: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    by_rules_before: bool,
    by_rules_after: bool,
) -> None:
    """What rules know and a model has left out is there again, and the other way round."""
    model = ScriptedModel(lambda _request: json.dumps(READ_BY_MODEL))
    with_model = use_small_model(app, model)
    for text in (
        "I promised Ana to water her plants.",
        "The old boat down at the pier is mine, I bought it in 2019.",
        "My spare key is with Otto.",
    ):
        await answer_message(app, chat_context, MessageSubmission(text=text))
        clock.tick(minutes=1)
    await learn_now(
        app if by_rules_before else with_model, chat_context.person.id, cut_reason="asked"
    )
    clock.tick(minutes=1)
    plan = await plan_reextraction(app.db, app.settings, chat_context.person.id)
    assert len(plan.segments) == by_rules_before
    await schedule_reextraction(app.db, app.clock, app.notifier, plan)
    await process_due_segments(with_model, chat_context.person.id)
    clock.tick(minutes=1)
    if by_rules_after:
        async with app.db.begin_read() as tx:
            (key,) = [e for e in await list_messages(tx, chat_context.person.id) if "key" in e.text]
        await forget(app, chat_context.person.id, DeletionRequest(ids=(key.id,)))
        await learn_now(app, chat_context.person.id, cut_reason="asked")
        clock.tick(minutes=1)

    await derived(app.db, second, model=model)

    assert findings(await compared(app.db, second.db)) == []
