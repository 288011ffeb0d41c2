"""Share of questions whose right belief is found at the end of each life.

The beliefs are those of the truth, so that finding is measured, not forming. What stands among the
first ten is compared with the messages alone: a belief answers as the words do that it rests on.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final

import numpy as np

from oldfriend.domain.clock import Micros, to_micros
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import (
    LIVE_STATUSES,
    Entity,
    EvidenceStats,
    MemoryState,
    Status,
    StoredBelief,
)
from oldfriend.llm.embedding import Embedder, Vectors
from oldfriend.llm.glosses import gloss_for_embedder
from oldfriend.search import (
    BeliefIndex,
    IndexRow,
    PersonIndex,
    QueryEmbedding,
    SearchQuery,
    build_embedding_text,
    encode_document_terms,
    search,
)
from oldfriend_evals.bench_measures import Measure, Scope, build_lower_target
from oldfriend_evals.lives.life import Belief, Life
from oldfriend_evals.lives.life_files import LANGUAGES, load_life
from oldfriend_evals.lives.questions import LifeQuestion, load_questions
from oldfriend_evals.temporary_stores import open_temporary_store

SOMEBODY: Final = PersonId("somebody")
FOUND: Final = 10
CONFIDENCE: Final = 0.8
FIRST, KEPT, REFUSED = 75.0, 1.0, 80.0
"""Percent of the questions: the best belief answers; as many are answered as without; refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one question has found."""

    has_answer: bool
    is_first_right: bool  # the best belief answers
    is_among_messages: bool  # of the messages alone, one of the first ten does
    is_among_all: bool  # of messages and beliefs together, one of the first ten does
    is_refused: bool  # no belief is held for an answer


async def measure_answers(_scope: Scope) -> list[Measure]:
    """Each life's questions."""
    async with open_temporary_store() as app:
        return [
            measure
            for language in LANGUAGES
            for measure in build_measures(language, await ask_life(language, app.embedder))
        ]


def build_measures(language: str, asked: list[Asked]) -> list[Measure]:
    """What share of the questions is answered."""
    with_answer = [each for each in asked if each.has_answer]
    without = [each for each in asked if not each.has_answer]
    return [
        Measure(
            name=f"the best belief answers, {language}",
            unit="%",
            target=build_lower_target(FIRST),
            value=compute_percent([each.is_first_right for each in with_answer]),
        ),
        Measure(
            name=f"an answer among the first ten, {language}",
            unit="%",
            target=build_lower_target(KEPT),
            value=compute_percent([each.is_among_all for each in with_answer]),
            reference=compute_percent([each.is_among_messages for each in with_answer]),
            note="reference: without beliefs",
        ),
        Measure(
            name=f"no belief where nothing answers, {language}",
            unit="%",
            value=compute_percent([each.is_refused for each in without]),
            target=build_lower_target(REFUSED),
        ),
    ]


def compute_percent(right: list[bool]) -> float:
    """The share of what is right."""
    return 100 * sum(right) / max(len(right), 1)


async def ask_life(language: str, embedder: Embedder) -> list[Asked]:
    """All questions to a life, asked after its last message."""
    life, questions = load_life(language), load_questions(language)
    messages, beliefs = await list_messages(life, embedder), await list_beliefs(life, embedder)
    at = max(line.spoken.at for line in life.lines)
    texts = await gloss_for_embedder(embedder.model, [(each.text, language) for each in questions])
    vectors = await embedder.embed(texts)
    return [
        judge_question(life, messages, beliefs, each, build_question(each, language, vector, at))
        for each, vector in zip(questions, vectors, strict=True)
    ]


def build_question(asks: LifeQuestion, language: str, vector: Vectors, at: Micros) -> SearchQuery:
    """A question as the search takes it."""
    return SearchQuery(
        text=asks.text, language=language, embedding=QueryEmbedding(vector=vector), asked_at=at
    )


def judge_question(
    life: Life,
    messages: PersonIndex,
    beliefs: BeliefIndex,
    asks: LifeQuestion,
    question: SearchQuery,
) -> Asked:
    """What one question finds."""
    ids = [line.id for line in life.lines]
    lines = asks.lines_in(life)
    found = beliefs.search(question, FOUND)
    believed = [(hit.score.value, str(hit.known.memory.id) in asks.beliefs) for hit in found.hits]
    hits = search(messages, question, FOUND).hits
    said = [(hit.score.value, ids[hit.seq] in lines) for hit in hits]
    together = sorted([*believed, *said], key=lambda pair: -pair[0])[:FOUND]
    return Asked(
        has_answer=bool(asks.beliefs),
        is_first_right=any(is_right for _, is_right in believed[:1]),
        is_among_messages=any(is_right for _, is_right in said),
        is_among_all=any(is_right for _, is_right in together),
        is_refused=not found.is_answerable,
    )


async def list_messages(life: Life, embedder: Embedder) -> PersonIndex:
    """What was said in a life, but by the companion."""
    said = [
        (place, line) for place, line in enumerate(life.lines) if line.spoken.role != "companion"
    ]
    rows = [
        IndexRow(
            seq=place,
            chat=line.chat,
            session=f"{line.chat} {line.day}",
            said_at=line.spoken.at,
            speaker=line.spoken.speaker,
            role=line.spoken.role,
            language=life.language,
            imprint=encode_document_terms(line.spoken.text, language=life.language),
        )
        for place, line in said
    ]
    said_words = [(line.spoken.text, life.language) for _, line in said]
    glossed = await gloss_for_embedder(embedder.model, said_words)
    texts = [
        build_embedding_text(line.spoken.speaker, text)
        for (_, line), text in zip(said, glossed, strict=True)
    ]
    return PersonIndex.build(rows, await embedder.embed(texts))


async def list_beliefs(life: Life, embedder: Embedder) -> BeliefIndex:
    """What is true of a life at its end, and what was superseded."""
    times = {line.id: line.spoken.at for line in life.lines}
    index = BeliefIndex()
    index.entities = tuple(
        Entity(
            id=EntityId(ObjectId(each.name)),
            person=SOMEBODY,
            name=each.name,
            kind=each.kind,
            aliases=each.aliases,
            learned_at=0,
        )
        for each in life.truth.names
    )
    known = [
        build_known(
            belief, life, index.entities, [times[line] for line in sorted(belief.lines)], base
        )
        for base, belief in enumerate(life.truth.beliefs, start=1)
        if get_status(belief) in {*LIVE_STATUSES, "superseded"}
    ]
    believed = [(each.memory.text, life.language) for each in known]
    vectors = await embedder.embed(await gloss_for_embedder(embedder.model, believed))
    index.upsert(
        known, {each.memory.id: np.asarray(row) for each, row in zip(known, vectors, strict=True)}
    )
    return index


def get_status(belief: Belief) -> Status:
    """How a belief stands at the end of a life."""
    if belief.holds_until is not None:
        return "superseded"
    if belief.end is None:
        return "active"
    return "deprecated" if belief.end.how == "ended" else belief.end.how


def build_known(
    belief: Belief, life: Life, entities: tuple[Entity, ...], said_at: list[Micros], base: int
) -> MemoryState:
    """A belief as it would be kept."""
    text, status = belief.texts[0], get_status(belief)
    ended_at = None if status in LIVE_STATUSES else max(said_at) + 1
    memory = StoredBelief(
        id=MemoryId(ObjectId(belief.id)),
        person=SOMEBODY,
        kind=belief.kind,
        text=text,
        language=life.language,
        subject=belief.subject,
        key=belief.key,
        value=next(iter(belief.values), ""),
        pattern=belief.pattern,
        impact=belief.impact,
        relational=belief.relational,
        status=status,
        happened_at=get_day_start(belief.happened_on),
        holds_from=get_day_start(belief.holds_from),
        holds_until=get_day_start(belief.holds_until),
        due_at=belief.due_at,
        learned_at=min(said_at),
        ended_at=ended_at,
        entities=tuple(
            each.id for each in entities if any(name in text for name in (each.name, *each.aliases))
        ),
    )
    standing = EvidenceStats(
        strength=float(len(said_at)),
        confidence=CONFIDENCE,
        times_seen=len(said_at),
        first_seen=min(said_at),
        last_seen=max(said_at),
    )
    return MemoryState(memory=memory, stats=standing, base_seq=base)


def get_day_start(day: date | None) -> Micros | None:
    """When a day begins; None where there is none."""
    return None if day is None else to_micros(datetime(day.year, day.month, day.day, tzinfo=UTC))
