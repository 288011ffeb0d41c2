"""Scenarios from one's own log: whether what is said again brings back what was believed.

The questions are their own later words, so no model is needed; nothing is written, and no word
leaves this process. It measures remembering by being reminded, which is easier than being asked.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final, TypeAlias, TypeVar

from oldfriend.db.database import Transaction
from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.domain.memories import Entity, Evidence, MemoryState, StoredBelief
from oldfriend.domain.supersession import get_valid_since
from oldfriend.llm.embedding import Embedder, Vectors
from oldfriend.memory.belief_views import list_entities, list_memories
from oldfriend.memory.evidence import compute_evidence_stats, list_evidence
from oldfriend.memory.index_cache import is_searchable
from oldfriend.memory.vectors import BeliefVectors, load_belief_vectors
from oldfriend.search import CALIBRATION_MODEL, BeliefIndex, QueryEmbedding, SearchQuery
from oldfriend.search.synonyms import build_search_text
from oldfriend_evals.scoring.scorer_comparison import Case, Moment

T = TypeVar("T")

MOST: Final = 300
"""So many questions of each kind are asked; of more, some that are evenly spread over time."""
Rivals: TypeAlias = Mapping[MemoryId, frozenset[MemoryId]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """What is and was believed of somebody, and the words behind it."""

    known: Mapping[MemoryId, MemoryState]
    evidence: Mapping[MemoryId, Sequence[Evidence]]  # what supports each, oldest first
    meanings: BeliefVectors
    entities: tuple[Entity, ...]
    now: Micros
    senses: Mapping[str, Vectors] = field(default_factory=dict)  # of the words; none: words alone

    @property
    def mentions(self) -> Sequence[tuple[Evidence, MemoryState]]:
        """All words that say something again, with what they say, in order of time."""
        again = [
            (words, self.known[memory])
            for memory, all_words in self.evidence.items()
            for words in list_later_words(all_words)
        ]
        return sample_evenly(sorted(again, key=lambda pair: (pair[0].said_at, pair[0].id)))

    def moments(self) -> Iterator[Moment]:
        """Each time at which something was said again; then what held at each time, asked now.

        What was believed is one index that grows: each moment ends where the next is asked for.
        """
        replay, rivals = Replay(self), list_rivals(self.known.values())
        for at, said in groupby(self.mentions, key=lambda pair: pair[0].said_at):
            index = replay.until(at)
            yield index, [self._build_reminder_cases(words, known, rivals) for words, known in said]
        yield replay.until(self.now), sample_evenly(list(self._held(rivals)))

    def _build_reminder_cases(self, words: Evidence, known: MemoryState, rivals: Rivals) -> Case:
        vector = self.senses.get(words.quote)
        question = SearchQuery(
            text=words.quote,
            language=known.memory.language,
            asked_at=words.said_at,
            embedding=None if vector is None else QueryEmbedding(vector=vector),
        )
        memory = known.memory.id
        return Case(
            question=question,
            asked="now",
            right=frozenset({memory}),
            rivals=rivals.get(memory, frozenset()),
        )

    def _held(self, rivals: Rivals) -> Iterator[Case]:
        """What is asked by the key of something that has changed, and a day on which it held."""
        for memory, others in rivals.items():
            known = self.known[memory]
            first, end = get_held(known, self.now)
            day = from_micros((first + end) // 2).date()
            text = f"{build_search_text(replace(known.memory, text=''))} ({day})"
            question = SearchQuery(text=text, language=known.memory.language, asked_at=self.now)
            if first < end:
                yield Case(
                    question=question, asked="then", right=frozenset({memory}), rivals=others
                )


class Replay:
    """What was believed, as it grows with the words."""

    def __init__(self, log: Log) -> None:
        """Begin before the first word."""
        self._log = log
        self._index = BeliefIndex()
        self._index.entities = log.entities
        self._steps = sorted(list_steps(log))
        self._done = 0

    def until(self, at: Micros) -> BeliefIndex:
        """What was believed before a moment."""
        touched: dict[MemoryId, None] = {}
        while self._done < len(self._steps) and self._steps[self._done][0] < at:
            touched[self._steps[self._done][1]] = None
            self._done += 1
        known = [
            each
            for memory in touched
            if (each := build_before(self._log.known[memory], self._log.evidence[memory], at))
        ]
        self._index.upsert(known, build_vectors(known, self._log.meanings))
        return self._index


def list_rivals(known: Iterable[MemoryState]) -> Rivals:
    """For each value of what has one at a time the other values that it has or had."""
    by_key: defaultdict[tuple[str, str, str], list[StoredBelief]] = defaultdict(list)
    for memory in (each.memory for each in known):
        if is_single_valued(memory):
            by_key[memory.kind, memory.key, memory.subject].append(memory)
    others = {
        each.id: frozenset(
            other.id for other in values if other.value.casefold() != each.value.casefold()
        )
        for values in by_key.values()
        for each in values
    }
    return {memory: each for memory, each in others.items() if each}


async def load_log(tx: Transaction, person: PersonId, model: str, *, now: Micros) -> Log:
    """All that a person's replay needs, read once."""
    memories = await list_memories(tx, person, live=False)
    evidence = await load_evidence(tx, person)
    known = {
        each.memory.id: each
        for each in memories
        if is_searchable(each) and each.memory.id in evidence
    }
    return Log(
        known=known,
        evidence={each: evidence[each] for each in known},
        meanings=await load_belief_vectors(tx, person, model),
        entities=tuple(await list_entities(tx, person)),
        now=now,
    )


async def embed_log(log: Log, embedder: Embedder) -> Log:
    """The log with what its words mean; by words alone where that would take another's model."""
    texts = list(dict.fromkeys(words.quote for words, _ in log.mentions))
    if embedder.model != CALIBRATION_MODEL or not texts:
        return log
    vectors = await embedder.embed(texts)
    return replace(log, senses=dict(zip(texts, vectors, strict=True)))


async def load_evidence(tx: Transaction, person: PersonId) -> dict[MemoryId, list[Evidence]]:
    """The words that speak for each belief, oldest first."""
    found: defaultdict[MemoryId, list[Evidence]] = defaultdict(list)
    for each, words in (await list_evidence(tx, person)).items():
        for one in words:
            if one.stance == "supports":
                found[MemoryId(each)].append(one)
    return dict(found)


def list_later_words(words: Sequence[Evidence]) -> Iterator[Evidence]:
    """The words of each later message that say the same; one of each message."""
    seen = {words[0].message}
    for each in words:
        if each.message not in seen and each.said_at > words[0].said_at:
            seen.add(each.message)
            yield each


def list_steps(log: Log) -> Iterator[tuple[Micros, MemoryId]]:
    """When something came to be believed, was said again, or was overtaken."""
    for memory, words in log.evidence.items():
        yield from ((each.said_at, memory) for each in words)
        over = log.known[memory].memory
        if over.ended_at is not None:
            yield over.holds_until or over.ended_at, memory


def build_before(known: MemoryState, words: Iterable[Evidence], at: Micros) -> MemoryState | None:
    """A belief as it stood before a moment; None where nobody had said it yet."""
    standing = compute_evidence_stats(each for each in words if each.said_at < at)
    if standing is None:
        return None
    memory = known.memory
    if memory.ended_at is not None and (memory.holds_until or memory.ended_at) >= at:
        memory = replace(memory, status="active", ended_at=None, holds_until=None)
    return replace(known, memory=memory, stats=standing)


def get_held(known: MemoryState, now: Micros) -> tuple[Micros, Micros]:
    """From when until when a value was so, as far as it is known."""
    memory = known.memory
    return get_valid_since(known), memory.holds_until or memory.ended_at or now


def build_vectors(known: Iterable[MemoryState], meanings: BeliefVectors) -> BeliefVectors:
    """The vectors of beliefs, where they have one."""
    ids = [each.memory.id for each in known if each.memory.id in meanings]
    return {each: meanings[each] for each in ids}


def sample_evenly(all_of_them: Sequence[T]) -> Sequence[T]:
    """At most so many, evenly spread."""
    count = len(all_of_them)
    if count <= MOST:
        return all_of_them
    return [all_of_them[place * count // MOST] for place in range(MOST)]
