"""Belief alignment: pairs the beliefs of two memories by content instead of by id.

The strongest criteria come first, and each belief is paired at most once: the same id, the same
text, the same value, the same names, then a shared quote or a similar text. Pure functions without
database access.

The beliefs of the target database are read once and then updated with what has changed since.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.db.database import Transaction
from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.ids import MessageId, ObjectId, PersonId
from oldfriend.domain.memories import Entity, JournalObject, MemoryState, StoredBelief, Summary
from oldfriend.learning.dedup import list_candidate_pairs
from oldfriend.learning.resolution.attribute_resolution import fold_value
from oldfriend.learning.similarity import (
    COMPATIBLE_KINDS,
    classify_pair,
    compute_canonical_hash,
    get_canonical_stems,
)
from oldfriend.memory.belief_views import (
    list_entities,
    list_memories,
    list_memories_changed_since,
    list_memories_rescored_since,
)
from oldfriend.memory.evidence import list_evidence, list_object_evidence
from oldfriend.memory.index_cache import MemoryCounters, load_counters

PARTIAL_LOAD_LIMIT = 500
"""Above this many changed memories, all evidence is loaded at once."""


@dataclass(slots=True)
class TargetSnapshot:
    """One person's memories with their evidence, as of the last refresh."""

    person: PersonId
    counters: MemoryCounters | None = None
    beliefs: dict[ObjectId, BeliefDetails] = field(default_factory=dict)

    async def list_all(self, tx: Transaction) -> list[BeliefDetails]:
        """Return all current and past beliefs except summaries, oldest first."""
        await self.refresh(tx)
        names = await list_entities(tx, self.person, live=False)
        memories = sorted(
            self.beliefs.values(), key=lambda each: build_belief_sort_key(each.content)
        )
        return [*memories, *(BeliefDetails(content=each) for each in names)]

    async def refresh(self, tx: Transaction) -> None:
        """Load new decisions and evidence; reload everything after any deletion."""
        now = await load_counters(tx, self.person)
        if self.counters is None or self.counters.rewritten != now.rewritten:
            self.beliefs = {}
            await self.apply_changes(tx, await list_memories(tx, self.person, live=False))
        elif self.counters != now:
            await self.apply_changes(
                tx,
                await list_memories_changed_since(tx, self.person, self.counters.last_change),
                *await list_memories_rescored_since(tx, self.person, self.counters.weighed),
            )
        self.counters = now

    async def apply_changes(
        self, tx: Transaction, decided: list[MemoryState], *reweighed: ObjectId
    ) -> None:
        """Update the changed memories, and the evidence of the rescored ones."""
        changed = list(dict.fromkeys((*(each.memory.id for each in decided), *reweighed)))
        if len(changed) > PARTIAL_LOAD_LIMIT:
            evidence = await list_evidence(tx, self.person)
        else:
            evidence = await list_object_evidence(tx, self.person, changed)
        for state in decided:
            self.beliefs[state.memory.id] = BeliefDetails(content=state.memory)
        for each in self.beliefs.keys() & {*changed}:
            self.beliefs[each] = BeliefDetails(
                content=self.beliefs[each].content, evidence=tuple(evidence.get(each, ()))
            )

    def invalidate(self) -> None:
        """Reload everything next time, because the last transaction was rolled back."""
        self.counters = None


def build_belief_sort_key(belief: JournalObject) -> tuple[int, str, str]:
    """Return the sort key of a memory: when it was learned, then its text."""
    text = belief.text if isinstance(belief, StoredBelief) else ""
    return belief.learned_at, text, belief.id


BeliefPair = tuple[BeliefDetails, BeliefDetails]
MatchKey = Callable[[BeliefDetails], Iterable[Hashable]]
"""Returns the keys by which a belief can be matched in the other memory."""

MIN_SHARED_STEMS: Final = 0.25
"""Two facts of one sentence share less; two wordings of one fact mostly share more."""


@dataclass(slots=True)
class Alignment:
    """The pairs found so far, and the unmatched beliefs of either side."""

    unmatched_first: list[BeliefDetails]
    unmatched_second: list[BeliefDetails]
    pairs: list[BeliefPair]

    def add_pairs(self, found: Iterable[BeliefPair]) -> None:
        """Add pairs whose beliefs are both unmatched; earlier pairs take precedence."""
        ones, others = (
            {id(each) for each in self.unmatched_first},
            {id(each) for each in self.unmatched_second},
        )
        for one, other in found:
            if id(one) in ones and id(other) in others:
                ones.remove(id(one))
                others.remove(id(other))
                self.pairs.append((one, other))
        self.unmatched_first = [each for each in self.unmatched_first if id(each) in ones]
        self.unmatched_second = [each for each in self.unmatched_second if id(each) in others]


def align_beliefs(
    first: Sequence[BeliefDetails], second: Sequence[BeliefDetails], *, is_strict: bool = False
) -> Alignment:
    """Pair each belief of one memory with its counterpart in the other.

    With ``is_strict``, two values of one attribute are two beliefs instead of one that differs.
    """
    alignment = Alignment(unmatched_first=list(first), unmatched_second=list(second), pairs=[])
    for match_key in (key_by_id, key_by_text, key_by_value, key_by_primary_name, key_by_any_name):
        alignment.add_pairs(pair_by_key(with_liveness(match_key), alignment))
        alignment.add_pairs(pair_by_key(match_key, alignment))
    alignment.add_pairs(pair_by_shared_quote(alignment))
    alignment.add_pairs(pair_by_similarity(alignment))
    if not is_strict:
        alignment.add_pairs(pair_by_key(with_liveness(key_by_slot), alignment))
        alignment.add_pairs(pair_by_key(key_by_slot, alignment))
    return alignment


def pair_by_key(match_key: MatchKey, alignment: Alignment) -> Iterator[BeliefPair]:
    """Yield the beliefs that share a key, in order."""
    if not alignment.unmatched_first:
        return
    by_key: defaultdict[Hashable, list[BeliefDetails]] = defaultdict(list)
    for other in alignment.unmatched_second:
        for key in match_key(other):
            by_key[key].append(other)
    for one in alignment.unmatched_first:
        for key in match_key(one):
            for other in by_key.get(key, ()):
                yield one, other


def with_liveness(match_key: MatchKey) -> MatchKey:
    """Return a key function that also separates current beliefs from ended ones."""
    return lambda each: ((key, each.content.ended_at is None) for key in match_key(each))


def key_by_id(each: BeliefDetails) -> Iterator[Hashable]:
    """Yield the id, which a copied belief keeps."""
    yield each.content.id


def key_by_text(each: BeliefDetails) -> Iterator[Hashable]:
    """Yield the normalized text of a memory, or what a summary covers."""
    content = each.content
    if isinstance(content, StoredBelief):
        yield (
            content.kind,
            content.subject,
            content.key,
            compute_canonical_hash(content.text, content.language),
        )
    elif isinstance(content, Summary):
        yield content.level, content.segments
        yield content.level, content.from_at, content.until_at


def key_by_value(each: BeliefDetails) -> Iterator[Hashable]:
    """Yield the attribute and its value."""
    content = each.content
    if isinstance(content, StoredBelief) and content.key and content.value:
        yield content.kind, content.subject, content.key, fold_value(content.value)


def key_by_primary_name(each: BeliefDetails) -> Iterator[Hashable]:
    """Yield the primary name of an entity."""
    if isinstance(each.content, Entity):
        yield each.content.kind, fold_value(each.content.name)


def key_by_any_name(each: BeliefDetails) -> Iterator[Hashable]:
    """Yield all names of an entity, the primary one first."""
    content = each.content
    if isinstance(content, Entity):
        yield from map(fold_value, (content.name, *content.aliases))


def key_by_slot(each: BeliefDetails) -> Iterator[Hashable]:
    """Yield the attribute, if it is one that has a single value at a time."""
    content = each.content
    if isinstance(content, StoredBelief) and is_single_valued(content):
        yield content.kind, content.subject, content.key


def pair_by_shared_quote(alignment: Alignment) -> list[BeliefPair]:
    """Return beliefs with a shared quote and a similar wording, the most similar first."""
    if not alignment.unmatched_first:
        return []
    by_message: defaultdict[MessageId, list[BeliefDetails]] = defaultdict(list)
    for other in alignment.unmatched_second:
        for message in {evidence.message for evidence in other.evidence}:
            by_message[message].append(other)
    found: dict[tuple[int, int], tuple[float, BeliefPair]] = {}
    for one in alignment.unmatched_first:
        for message in {evidence.message for evidence in one.evidence}:
            for other in by_message.get(message, ()):
                if can_match(one, other) and has_shared_quote(one, other):
                    found[id(one), id(other)] = score_similarity(one, other), (one, other)
    return [
        pair
        for score, pair in sorted(found.values(), key=lambda each: -each[0])
        if score >= MIN_SHARED_STEMS
    ]


def can_match(first: BeliefDetails, second: BeliefDetails) -> bool:
    """Return whether two can be the same belief; attributes need the same key or value."""
    a, b = first.content, second.content
    if not (isinstance(a, StoredBelief) and isinstance(b, StoredBelief)) or a.subject != b.subject:
        return False
    if a.key and b.key:
        return fold_value(a.value) == fold_value(b.value) or (
            a.key == b.key and is_contained(a.value, b.value)
        )
    return a.kind == b.kind or frozenset({a.kind, b.kind}) in COMPATIBLE_KINDS


def has_shared_quote(first: BeliefDetails, second: BeliefDetails) -> bool:
    """Return whether both have evidence in the same quote, or one quote contains the other."""
    return any(
        ours.message == theirs.message and is_contained(ours.quote, theirs.quote)
        for ours in first.evidence
        for theirs in second.evidence
    )


def is_contained(first: str, second: str) -> bool:
    """Return whether one of two texts contains the other."""
    a, b = fold_value(first), fold_value(second)
    return bool(a and b) and (a in b or b in a)


def score_similarity(first: BeliefDetails, second: BeliefDetails) -> float:
    """Return the similarity of two beliefs with a shared quote, from 0 to 1; 1 for equal values."""
    a, b = first.content, second.content
    assert isinstance(a, StoredBelief)
    assert isinstance(b, StoredBelief)
    if a.value and fold_value(a.value) == fold_value(b.value):
        return 1.0
    ours, theirs = get_canonical_stems(a.text, a.language), get_canonical_stems(b.text, b.language)
    return 2 * len(ours & theirs) / max(len(ours) + len(theirs), 1)


def pair_by_similarity(alignment: Alignment) -> Iterator[BeliefPair]:
    """Yield memories that merging would consider the same by their text, the most similar first."""
    ones = [
        (each, each.content)
        for each in alignment.unmatched_first
        if isinstance(each.content, StoredBelief)
    ]
    others = [
        (each, each.content)
        for each in alignment.unmatched_second
        if isinstance(each.content, StoredBelief)
    ]
    for language in sorted({memory.language for _, memory in ones}):
        ours = [(each, memory) for each, memory in ones if memory.language == language]
        for pair in list_candidate_pairs(
            [memory for _, memory in ours],
            [memory for _, memory in others],
            None,
            language=language,
        ):
            (one, a), (other, b) = ours[pair.one], others[pair.other]
            is_value = (
                a.key and b.key and (a.key, fold_value(a.value)) != (b.key, fold_value(b.value))
            )
            if not is_value and classify_pair(a, b, None, language=language) == "same":
                yield one, other


def find_counterpart(
    belief: BeliefDetails, candidates: Sequence[BeliefDetails], *, is_strict: bool = True
) -> BeliefDetails | None:
    """Return the counterpart of one belief among candidates, or None."""
    pairs = align_beliefs([belief], candidates, is_strict=is_strict).pairs
    return pairs[0][1] if pairs else None
