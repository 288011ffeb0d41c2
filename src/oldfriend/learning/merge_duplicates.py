"""Merging: joins duplicate patterns and events, and deprecates decayed and surplus beliefs.

The merged belief keeps the evidence of both. Beliefs that the person has pinned or written stay as
they are. Planned from what is read, and written in one transaction.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import nsmallest
from itertools import groupby
from typing import Final, TypeVar

from oldfriend.db.database import Database, Transaction
from oldfriend.domain.belief_kinds import KINDS_BY_NAME, list_kinds
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.errors import StaleDecision
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import Cause, Entity, MemoryState, ObjectLink, StoredBelief
from oldfriend.learning.dedup import list_candidate_pairs
from oldfriend.learning.llm_dedup_judge import PROMPT, judge_duplicate
from oldfriend.learning.similarity import EmbeddedTexts, classify_pair
from oldfriend.llm.model import LanguageModel
from oldfriend.memory.belief_views import list_entities, list_memories
from oldfriend.memory.evidence import list_object_evidence, move_evidence
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.memory.people import get_person_by_id, lock_person
from oldfriend.memory.vectors import load_belief_vectors
from oldfriend.search.belief_weight import compute_belief_weight

RULES_AUTHOR: Final = "merge/1"
"""Author of merges and deprecations decided without a model."""

Of = TypeVar("Of")

DECAYING_KINDS: Final = list_kinds(lambda kind: kind.decays or kind.is_merged)
DECAY_CONFIDENCE, DECAY_AGE = 0.3, 90 * DAY
"""Beliefs seen once, unsure and not seen for this long are deprecated …"""
PEAK_IMPACT: Final = 7
"""… unless their emotional impact is at least this strong."""
MAX_PATTERNS: Final = 200
"""Beyond this number the least valuable patterns go: ten times what a reader is shown."""
MAX_JUDGED_PAIRS: Final = 20
"""Pairs that a model is asked about in one run; the most similar first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateMerge:
    """Duplicate merge: the weaker of two duplicates is merged into the stronger."""

    stronger: MemoryState
    weaker: MemoryState
    author: str  # the rule or prompt that decided it


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """Merge result: what was done, or would be done."""

    merges: tuple[DuplicateMerge, ...] = ()
    deprecated: tuple[MemoryState, ...] = ()
    judged: int = 0  # pairs that a model was asked about
    unclear: int = 0  # similar pairs that were not judged


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateCandidate:
    """Duplicate candidate: two similar beliefs, and whether the rules are sure."""

    stronger: MemoryState
    weaker: MemoryState
    is_clear: bool


async def merge_duplicate_memories(
    db: Database,
    person: PersonId,
    *,
    model: LanguageModel | None,
    embedder: str,
    now: Micros,
    since: Micros = 0,
    dry_run: bool = False,
) -> MergeResult:
    """Merge duplicates and deprecate decayed beliefs; with ``dry_run`` only report the plan.

    Pairs of which both were known at ``since`` were judged then. Raises StaleDecision if something
    changed meanwhile (then nothing is written), and what the model raises.
    """
    async with db.begin_read() as tx:
        known = await list_memories(tx, person, kinds=DECAYING_KINDS)
        vectors = await load_vectors(tx, person, embedder, known)
        names = list_names(await list_entities(tx, person))
        zone = (await get_person_by_id(tx, person)).zone
    merges, asked, unclear = await judge_candidates(
        list_duplicate_candidates(known, vectors, names, since=since), model, zone=zone
    )
    merging = {side.memory.id for each in merges for side in (each.stronger, each.weaker)}
    unmerged = [each for each in known if each.memory.id not in merging]
    faded = [each for each in unmerged if has_decayed(each, now)]
    removed = {each.memory.id for each in faded} | {each.weaker.memory.id for each in merges}
    remaining = [each for each in known if each.memory.id not in removed]
    faded += select_excess_patterns(remaining, now, exclude=merging)
    if (merges or faded) and not dry_run:
        async with db.begin_write() as tx:
            await lock_person(tx, person)
            await write_deprecated(tx, faded, now=now)  # first: merging moves links in what is left
            await write_merges(tx, person, merges, now=now)
    return MergeResult(merges=tuple(merges), deprecated=tuple(faded), judged=asked, unclear=unclear)


async def load_vectors(
    tx: Transaction, person: PersonId, embedder: str, known: Sequence[MemoryState]
) -> EmbeddedTexts:
    """Load the stored vectors of belief texts, as far as there are any."""
    ids = [each.memory.id for each in known if is_mergeable(each)]
    vectors = await load_belief_vectors(tx, person, embedder, ids)
    by_text = {e.memory.text: vectors[e.memory.id] for e in known if e.memory.id in vectors}
    return EmbeddedTexts(model=embedder, by_text=by_text)


def list_duplicate_candidates(
    known: Sequence[MemoryState],
    vectors: EmbeddedTexts | None,
    names: Sequence[str],
    *,
    since: Micros,
) -> list[DuplicateCandidate]:
    """Return the pairs that may say the same: sure ones first, then the most similar."""
    candidates: list[tuple[float, DuplicateCandidate]] = []
    mergeable = sorted(filter(is_mergeable, known), key=get_group_key)
    for (_, language), group in groupby(mergeable, key=get_group_key):
        states = list(group)
        memories = [each.memory for each in states]
        for pair in list_candidate_pairs(
            memories, memories, vectors, language=language, level="merge"
        ):
            one, other = memories[pair.one], memories[pair.other]
            if pair.one >= pair.other or max(one.learned_at, other.learned_at) <= since:
                continue
            answer = classify_pair(one, other, vectors, language=language, names=names)
            if answer != "different":
                candidate = build_candidate(
                    states[pair.one], states[pair.other], is_clear=answer == "same"
                )
                candidates.append((pair.similarity, candidate))
    candidates.sort(key=lambda each: (not each[1].is_clear, -each[0]))
    return [
        candidate for _, candidate in candidates if not is_kept_by_person(candidate.weaker.memory)
    ]


def build_candidate(one: MemoryState, other: MemoryState, *, is_clear: bool) -> DuplicateCandidate:
    """Decide which of two beliefs would be merged into which."""
    weaker, stronger = sorted((one, other), key=get_rank_key)
    return DuplicateCandidate(stronger=stronger, weaker=weaker, is_clear=is_clear)


async def judge_candidates(
    candidates: Sequence[DuplicateCandidate], model: LanguageModel | None, *, zone: str
) -> tuple[list[DuplicateMerge], int, int]:
    """Return the merges, how many pairs were asked about, and how many were not judged.

    Each belief takes part in one direction only: one that has absorbed another is not merged away.
    """
    merges: list[DuplicateMerge] = []
    absorbing, merged = set[ObjectId](), set[ObjectId]()
    asked = unclear = 0
    for candidate in candidates:
        stronger, weaker = candidate.stronger.memory, candidate.weaker.memory
        if stronger.id in merged or weaker.id in merged | absorbing:
            continue
        author = RULES_AUTHOR
        if not candidate.is_clear:
            if model is None or asked == MAX_JUDGED_PAIRS:
                unclear += 1
                continue
            asked += 1
            if not (
                await judge_duplicate(
                    model, stronger, weaker, language=stronger.language, zone=zone
                )
            ).is_same:
                continue
            author = PROMPT
        absorbing.add(stronger.id)
        merged.add(weaker.id)
        merges.append(
            DuplicateMerge(stronger=candidate.stronger, weaker=candidate.weaker, author=author)
        )
    return merges, asked, unclear


async def write_merges(
    tx: Transaction, person: PersonId, merges: Sequence[DuplicateMerge], *, now: Micros
) -> None:
    """Merge the weaker beliefs into the stronger, with their evidence and the links to them."""
    believed = await list_memories(tx, person)
    check_unchanged(merges, believed)
    into = {each.weaker.memory.id: each.stronger.memory.id for each in merges}
    evidence = await list_object_evidence(tx, person, list(into))
    for each in merges:
        weaker, stronger = each.weaker.memory, each.stronger.memory
        evidence_items = evidence.get(weaker.id, ())
        causes = tuple(
            dict.fromkeys(Cause(message=e.message, version=e.version) for e in evidence_items)
        )
        provenance = Provenance(author=each.author, causes=causes)
        merged = mark_merged(weaker, stronger.id, now)
        await record_decision(
            tx, merged, op="merged", base=each.weaker.base_seq, provenance=provenance, now=now
        )
        await move_evidence(tx, person, source_id=weaker.id, target=stronger.id)
    for known in (each for each in believed if each.memory.id not in into):
        taken = [e.weaker.memory for e in merges if e.stronger.memory.id == known.memory.id]
        after = redirect_relations(combine_memories(known.memory, taken), into)
        if after != known.memory:
            provenance = Provenance(author=RULES_AUTHOR)
            await record_decision(
                tx, after, op="revised", base=known.base_seq, provenance=provenance, now=now
            )


def check_unchanged(merges: Sequence[DuplicateMerge], believed: Iterable[MemoryState]) -> None:
    """Raise StaleDecision if a belief that absorbs another has changed since it was read."""
    bases = {each.memory.id: each.base_seq for each in believed}
    for each in merges:
        if bases.get(each.stronger.memory.id) != each.stronger.base_seq:
            raise StaleDecision(f"{each.stronger.memory.id} has changed while others were merged.")


async def write_deprecated(tx: Transaction, decayed: Sequence[MemoryState], *, now: Micros) -> None:
    """Deprecate decayed beliefs; they stay readable."""
    for each in decayed:
        after = replace(each.memory, status="deprecated", ended_at=now)
        provenance = Provenance(author=RULES_AUTHOR)
        await record_decision(
            tx, after, op="deprecated", base=each.base_seq, provenance=provenance, now=now
        )


def mark_merged(weaker: StoredBelief, into: ObjectId, now: Micros) -> StoredBelief:
    """Return the weaker belief marked as merged into the stronger."""
    relations = (*weaker.relations, ObjectLink(kind="merged_into", target=into))
    return replace(weaker, status="merged", ended_at=now, relations=relations)


def combine_memories(stronger: StoredBelief, merged: Sequence[StoredBelief]) -> StoredBelief:
    """Return the stronger belief with the names, tags, times and emotions of the others."""
    for weaker in merged:
        same_side = weaker.impact * stronger.impact >= 0
        is_felt_more = abs(weaker.impact) > abs(stronger.impact)
        stronger = replace(
            stronger,
            entities=merge_unique(stronger.entities, weaker.entities),
            tags=merge_unique(stronger.tags, weaker.tags),
            arousal=choose_known_time(max, stronger.arousal, weaker.arousal),
            cues=merge_unique(stronger.cues, weaker.cues),
            relational=merge_unique(stronger.relational, weaker.relational),
            relations=merge_unique(stronger.relations, weaker.relations),
            importance=max(stronger.importance, weaker.importance),
            impact=weaker.impact if same_side and is_felt_more else stronger.impact,
            happened_at=choose_known_time(min, stronger.happened_at, weaker.happened_at),
            happened_until=choose_known_time(max, stronger.happened_until, weaker.happened_until),
            status="active" if weaker.status == "active" else stronger.status,
        )
    return stronger


def redirect_relations(memory: StoredBelief, into: Mapping[MemoryId, MemoryId]) -> StoredBelief:
    """Return a belief whose links follow the merges and never point to itself."""
    moved = (
        replace(each, target=into.get(MemoryId(each.target), each.target))
        for each in memory.relations
    )
    relations = tuple(dict.fromkeys(each for each in moved if each.target != memory.id))
    return replace(memory, relations=relations)


def list_names(entities: Iterable[Entity]) -> list[str]:
    """Return all names and aliases of entities."""
    return [name for entity in entities for name in (entity.name, *entity.aliases)]


def is_mergeable(known: MemoryState) -> bool:
    """Return whether a belief is of a kind that may have duplicates."""
    return KINDS_BY_NAME[known.memory.kind].is_merged


def is_kept_by_person(memory: StoredBelief) -> bool:
    """Return whether the person has pinned or written a belief."""
    return memory.is_pinned or memory.is_by_person


def has_decayed(known: MemoryState, now: Micros) -> bool:
    """Return whether a belief was seen once, long ago, and with low confidence."""
    stats = known.stats
    return (
        stats.confidence < DECAY_CONFIDENCE
        and stats.times_seen == 1
        and now - stats.last_seen > DECAY_AGE
        and abs(known.memory.impact) < PEAK_IMPACT
        and not is_kept_by_person(known.memory)
    )


def select_excess_patterns(
    known: Iterable[MemoryState], now: Micros, *, exclude: Collection[MemoryId]
) -> list[MemoryState]:
    """Return the least valuable surplus patterns, except ``exclude`` and the person's own."""
    patterns = [each for each in known if each.memory.kind == "pattern"]
    excess = len(patterns) - MAX_PATTERNS
    free = (e for e in patterns if e.memory.id not in exclude and not is_kept_by_person(e.memory))
    return (
        nsmallest(excess, free, key=partial(compute_belief_weight, now=now)) if excess > 0 else []
    )


def get_rank_key(known: MemoryState) -> tuple[bool, float, float, int, Micros]:
    """Return the sort key of strength: kept by the person, then confidence, then age."""
    stats = known.stats
    return (
        is_kept_by_person(known.memory),
        stats.strength,
        stats.confidence,
        stats.times_seen,
        -known.memory.learned_at,
    )


def get_group_key(known: MemoryState) -> tuple[str, str]:
    """Return the kind and language of a belief; only beliefs with equal keys are compared."""
    return known.memory.kind, known.memory.language


def merge_unique(ours: tuple[Of, ...], theirs: tuple[Of, ...]) -> tuple[Of, ...]:
    """Return all items of both, each once."""
    return tuple(dict.fromkeys((*ours, *theirs)))


def choose_known_time(
    choose: Callable[[Micros, Micros], Micros], one: Micros | None, other: Micros | None
) -> Micros | None:
    """Choose between two times, or return the one that is known."""
    if one is None or other is None:
        return other if one is None else one
    return choose(one, other)
