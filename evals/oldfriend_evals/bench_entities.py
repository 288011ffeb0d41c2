"""Speed of following relations between people, and of building a whole prompt.

Somebody who knows thousands by name. Names, ties and vectors are made up: right for speed only.
"""

import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, new_id
from oldfriend.domain.memories import Entity, StoredBelief
from oldfriend.inbound.accept import ChatContext
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.journal import record_decision
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import get_companion
from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.turn.intent import Addressee, perceive
from oldfriend.turn.prompt_builder import BuiltPrompt, build_reply_prompt
from oldfriend.turn.reply_context import load_reply_context
from oldfriend.turn.request_handlers.registry import REQUEST_HANDLERS
from oldfriend.turn.tools.tool import InMemoryToolCallStore
from oldfriend.turn.tools.tool_registry import TOOLS
from oldfriend.turn.turn_dependencies import TurnDependencies
from oldfriend.turn.turn_outcome import Utterance
from oldfriend_evals.baselines import build_fts_query
from oldfriend_evals.bench_beliefs import MOST
from oldfriend_evals.bench_learning import BENCH, WRITTEN_AT_ONCE, YEARS, store_beliefs
from oldfriend_evals.bench_measures import Measure, Scope, build_upper_target, measure_medians_ms
from oldfriend_evals.corpus import FIRST_DAY
from oldfriend_evals.speed import CACHE_WARMING, Setting, open_setting

ASKED: Final = 100
NOW: Final = FIRST_DAY + YEARS * 365 * DAY


async def measure_relations(scope: Scope) -> list[Measure]:
    """A walk of two steps from whom a question names, and a prompt with all its sections."""
    messages, beliefs, names = (1_000, 500, 200) if scope.quick else (10_000, 5_000, 5_000)
    async with open_setting(messages) as here:
        await store_beliefs(here.app, here.line, beliefs)
        known = await relate_people(here.app, here.line, names)
        said = await load_last_message(here.app, here.line)
        prompt = f"a whole prompt from {messages:,} messages + {beliefs + names:,} beliefs"
        return [
            await compare_with_features(
                here,
                known,
                f"two steps from one of {names:,} names",
                1.0,
                partial(count_reached_relations, here.app, said),
            ),
            await compare_with_features(
                here, known, prompt, MOST, partial(build_prompt_context, here.app, said)
            ),
        ]


async def relate_people(app: AppContext, line: ChatContext, count: int) -> list[Entity]:
    """So many with names, each a friend of another."""
    rng, person = random.Random(4), line.person.id
    made = [
        Entity(
            id=EntityId(ObjectId(new_id(FIRST_DAY + number))),
            person=person,
            name=f"Anka{number} Bo{number % 97}",
            kind="person",
            learned_at=FIRST_DAY,
        )
        for number in range(count)
    ]
    async with app.db.begin_read() as tx:
        (source,) = await list_messages(tx, person, limit=1)
    for first in range(0, count, WRITTEN_AT_ONCE):
        async with app.db.begin_write() as tx:
            for one in made[first : first + WRITTEN_AT_ONCE]:
                await record_decision(
                    tx, one, op="learned", base=0, provenance=BENCH, now=FIRST_DAY
                )
                tie = build_friendship(one, rng.choice(made))
                await record_decision(
                    tx, tie, op="learned", base=0, provenance=BENCH, now=FIRST_DAY
                )
                words = [NewEvidence(source=source, quote=source.text[:80], confidence=0.8)]
                await add_evidence(tx, person, tie.id, words, extractor="bench/1", now=FIRST_DAY)
    return rng.sample(made, min(ASKED, count))


def build_friendship(one: Entity, other: Entity) -> StoredBelief:
    """That two are friends."""
    return StoredBelief(
        id=MemoryId(ObjectId(new_id(FIRST_DAY))),
        person=one.person,
        kind="triple",
        language="en",
        text=f"{one.name} and {other.name} are friends.",
        subject="other",
        key="friend_of",
        value=other.name,
        entities=(one.id, other.id),
        learned_at=FIRST_DAY,
    )


async def load_last_message(app: AppContext, line: ChatContext) -> Utterance:
    """Something that the person has said last."""
    async with app.db.begin_read() as tx:
        message = (await list_messages(tx, line.person.id))[-1]
        companion = await get_companion(tx)
    hearer = Addressee(name=companion.name, languages=("en",))
    said = replace(message, at=NOW, trust="person", role="person")
    return Utterance(
        message=said,
        person=line.person,
        companion=companion,
        addressee=hearer,
        is_first_in_chat=False,
    )


async def compare_with_features(
    here: Setting,
    known: list[Entity],
    name: str,
    most: float,
    act: Callable[[str], Awaitable[object]],
) -> Measure:
    """How long something takes for questions about some of those known, beside F for the same."""
    vector = next(iter(here.vectors.values()))
    questions = [f"What did {each.name} tell me about the garden?" for each in known]
    turns = [
        (partial(here.plain.find, build_fts_query(each), vector), partial(act, each))
        for each in questions
    ]
    await measure_medians_ms(turns[:CACHE_WARMING])
    reference, value = await measure_medians_ms(turns)
    return Measure(
        name=name,
        value=value,
        unit="ms",
        reference=reference,
        target=build_upper_target(most),
        note="reference: F, among the messages alone",
    )


async def count_reached_relations(app: AppContext, said: Utterance, text: str) -> int:
    """How many ties are reached from those whom a question names."""
    async with app.db.begin_read() as tx:
        beliefs = await app.index_cache.get_belief_index(tx, said.person.id)
        return len(beliefs.list_reachable(beliefs.list_named_entities(text, ())))


async def build_prompt_context(app: AppContext, said: Utterance, text: str) -> BuiltPrompt:
    """All that a model would be told for one reply."""
    said = replace(said, message=replace(said.message, text=text))
    mind = TurnDependencies(
        search_deps=app.search_deps,
        model=ScriptedModel([]),
        call_store=InMemoryToolCallStore(),
        clock=app.clock,
        tools=TOOLS,
        handlers=REQUEST_HANDLERS,
    )
    sight = await load_reply_context(said, perceive(said.own_words, said.addressee), mind)
    return build_reply_prompt(
        said, sight, get_reply_prompt(), noted_text=None, tools=(), budget=mind.limits.budget
    )
