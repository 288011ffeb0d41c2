"""Which beliefs say the same, which fade away, which are too many? Joined with all their words.

Looks at patterns and events; what a person has pinned or written stays as it is. Planned from
what is read, written in one transaction.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import nsmallest
from itertools import groupby
from typing import Final, TypeVar

from oldfriend.background.adjudicating import PROMPT, adjudicate
from oldfriend.background.likeness import Vectors, verdict
from oldfriend.background.pairs import alike_pairs
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.errors import StaleDecision
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import Cause, Entity, Known, Memory, MemoryKind, Relation
from oldfriend.llm.model import Model
from oldfriend.memory.beliefs import list_entities, list_memories
from oldfriend.memory.changes import Ground, decide
from oldfriend.memory.evidence import list_evidence_of, move_evidence
from oldfriend.memory.meanings import load_meanings
from oldfriend.memory.people import lock_person
from oldfriend.memory.search.worth import worth_of

RULE: Final = "merge/1"
"""The author of what was joined or let go without asking a model."""

Of = TypeVar("Of")

JOINED_KINDS: Final[frozenset[MemoryKind]] = frozenset({"pattern", "event"})
FADING_KINDS: Final[frozenset[MemoryKind]] = JOINED_KINDS | {"fact", "preference"}
FADES_BELOW, FADES_AFTER = 0.3, 90 * DAY
"""What was seen once, is less sure and was long not seen is let go (ACCEPTANCE G20) …"""
PEAK: Final = 7
"""… unless it was felt at least so strongly."""
MOST_PATTERNS: Final = 200
"""Of more, those go that are worth least (ACCEPTANCE G22): ten times what a reader is shown."""
MOST_ASKED: Final = 20
"""Pairs that a model is asked about in one go; the most alike first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """Two that say the same: the weaker is merged into the stronger."""

    stronger: Known
    weaker: Known
    author: str  # the rule or prompt that says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What was done, or would be."""

    joined: tuple[Joining, ...] = ()
    faded: tuple[Known, ...] = ()
    asked: int = 0  # pairs that a model was asked about
    unclear: int = 0  # pairs that are alike, and that nobody has judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Two that are alike, and what the rules make of them."""

    stronger: Known
    weaker: Known
    is_clear: bool


async def merge(
    db: Database, person: PersonId, *, model: Model | None, embedder: str, now: Micros,
    since: Micros = 0, dry_run: bool = False,
) -> Merged:  # fmt: skip
    """Join what says the same, and let go what has faded; with ``dry_run`` only say what would be.

    Pairs of which both were known at ``since`` were judged then. Raises StaleDecision when
    something changed meanwhile (nothing is written then), and what the model raises.
    """
    async with db.reading() as tx:
        known = await list_memories(tx, person, kinds=FADING_KINDS)
        vectors = await vectors_of(tx, person, embedder, known)
        names = names_of(await list_entities(tx, person))
    joined, asked, unclear = await settled(doubts_among(known, vectors, names, since=since), model)
    taking_part = {side.memory.id for each in joined for side in (each.stronger, each.weaker)}
    apart = [each for each in known if each.memory.id not in taking_part]
    faded = [each for each in apart if has_faded(each, now)]
    gone = {each.memory.id for each in faded} | {each.weaker.memory.id for each in joined}
    left = [each for each in known if each.memory.id not in gone]
    faded += too_many(left, now, but=taking_part)
    if (joined or faded) and not dry_run:
        async with db.writing() as tx:
            await lock_person(tx, person)
            await write_faded(tx, faded, now=now)  # first: joining moves links in what is left
            await write_joined(tx, person, joined, now=now)
    return Merged(joined=tuple(joined), faded=tuple(faded), asked=asked, unclear=unclear)


async def vectors_of(
    tx: Transaction, person: PersonId, embedder: str, known: Sequence[Known]
) -> Vectors:
    """What an embedder made of the texts of beliefs, as far as it has seen them."""
    ids = [each.memory.id for each in known if is_joinable(each)]
    meanings = await load_meanings(tx, person, embedder, ids)
    of = {e.memory.text: meanings[e.memory.id] for e in known if e.memory.id in meanings}
    return Vectors(model=embedder, of=of)


def doubts_among(
    known: Sequence[Known], vectors: Vectors | None, names: Sequence[str], *, since: Micros
) -> list[Doubt]:
    """The pairs that may say the same: first those that surely do, then the most alike."""
    doubts: list[tuple[float, Doubt]] = []
    joinable = sorted(filter(is_joinable, known), key=kind_and_language)
    for (_, language), group in groupby(joinable, key=kind_and_language):
        held = list(group)
        memories = [each.memory for each in held]
        for pair in alike_pairs(memories, memories, vectors, language=language, level="merge"):
            one, other = memories[pair.one], memories[pair.other]
            if pair.one >= pair.other or max(one.learned_at, other.learned_at) <= since:
                continue
            answer = verdict(one, other, vectors, language=language, names=names)
            if answer != "different":
                doubt = doubt_about(held[pair.one], held[pair.other], is_clear=answer == "same")
                doubts.append((pair.likeness, doubt))
    doubts.sort(key=lambda each: (not each[1].is_clear, -each[0]))
    return [doubt for _, doubt in doubts if not is_kept(doubt.weaker.memory)]


def doubt_about(one: Known, other: Known, *, is_clear: bool) -> Doubt:
    """Which of two would be merged into which."""
    weaker, stronger = sorted((one, other), key=standing_order)
    return Doubt(stronger=stronger, weaker=weaker, is_clear=is_clear)


async def settled(doubts: Sequence[Doubt], model: Model | None) -> tuple[list[Joining], int, int]:
    """What is joined, how many pairs were asked about, and how many nobody has judged.

    Each belief takes part in one direction only: what has taken another in is not merged away.
    """
    joined: list[Joining] = []
    taking, gone = set[ObjectId](), set[ObjectId]()
    asked = unclear = 0
    for doubt in doubts:
        stronger, weaker = doubt.stronger.memory, doubt.weaker.memory
        if stronger.id in gone or weaker.id in gone | taking:
            continue
        author = RULE
        if not doubt.is_clear:
            if model is None or asked == MOST_ASKED:
                unclear += 1
                continue
            asked += 1
            if not (await adjudicate(model, stronger, weaker, language=stronger.language)).is_same:
                continue
            author = PROMPT
        taking.add(stronger.id)
        gone.add(weaker.id)
        joined.append(Joining(stronger=doubt.stronger, weaker=doubt.weaker, author=author))
    return joined, asked, unclear


async def write_joined(
    tx: Transaction, person: PersonId, joined: Sequence[Joining], *, now: Micros
) -> None:
    """Merge the weaker into the stronger, with the words for it and what points to it."""
    believed = await list_memories(tx, person)
    check_unchanged(joined, believed)
    into = {each.weaker.memory.id: each.stronger.memory.id for each in joined}
    evidence = await list_evidence_of(tx, person, list(into))
    for each in joined:
        weaker, stronger = each.weaker.memory, each.stronger.memory
        words = evidence.get(weaker.id, ())
        causes = tuple(dict.fromkeys(Cause(message=e.message, version=e.version) for e in words))
        ground = Ground(author=each.author, causes=causes)
        after = merged_away(weaker, stronger.id, now)
        await decide(tx, after, op="merged", base=each.weaker.base, ground=ground, now=now)
        await move_evidence(tx, person, source=weaker.id, target=stronger.id)
    for known in (each for each in believed if each.memory.id not in into):
        taken = [e.weaker.memory for e in joined if e.stronger.memory.id == known.memory.id]
        after = with_links_moved(united(known.memory, taken), into)
        if after != known.memory:
            ground = Ground(author=RULE)
            await decide(tx, after, op="revised", base=known.base, ground=ground, now=now)


def check_unchanged(joined: Sequence[Joining], believed: Iterable[Known]) -> None:
    """Raise StaleDecision if what takes another in is not what was looked at."""
    bases = {each.memory.id: each.base for each in believed}
    for each in joined:
        if bases.get(each.stronger.memory.id) != each.stronger.base:
            raise StaleDecision(f"{each.stronger.memory.id} has changed while others were merged.")


async def write_faded(tx: Transaction, faded: Sequence[Known], *, now: Micros) -> None:
    """Believe no longer what has faded; it stays to be read."""
    for each in faded:
        after = replace(each.memory, status="deprecated", ended_at=now)
        ground = Ground(author=RULE)
        await decide(tx, after, op="deprecated", base=each.base, ground=ground, now=now)


def merged_away(weaker: Memory, into: ObjectId, now: Micros) -> Memory:
    """The weaker one, which from now on is found under the stronger."""
    relations = (*weaker.relations, Relation(kind="merged_into", other=into))
    return replace(weaker, status="merged", ended_at=now, relations=relations)


def united(stronger: Memory, taken: Sequence[Memory]) -> Memory:
    """The stronger one with what the others knew besides: names, tags, times, and how it felt."""
    for weaker in taken:
        same_side = weaker.impact * stronger.impact >= 0
        is_felt_more = abs(weaker.impact) > abs(stronger.impact)
        stronger = replace(
            stronger,
            entities=joined_up(stronger.entities, weaker.entities),
            tags=joined_up(stronger.tags, weaker.tags),
            arousal=first_known(max, stronger.arousal, weaker.arousal),
            cues=joined_up(stronger.cues, weaker.cues),
            relational=joined_up(stronger.relational, weaker.relational),
            relations=joined_up(stronger.relations, weaker.relations),
            importance=max(stronger.importance, weaker.importance),
            impact=weaker.impact if same_side and is_felt_more else stronger.impact,
            happened_at=first_known(min, stronger.happened_at, weaker.happened_at),
            happened_until=first_known(max, stronger.happened_until, weaker.happened_until),
            status="active" if weaker.status == "active" else stronger.status,
        )
    return stronger


def with_links_moved(memory: Memory, into: Mapping[MemoryId, MemoryId]) -> Memory:
    """A memory whose relations point to what the others were merged into, and not to itself."""
    moved = (
        replace(each, other=into.get(MemoryId(each.other), each.other)) for each in memory.relations
    )
    relations = tuple(dict.fromkeys(each for each in moved if each.other != memory.id))
    return replace(memory, relations=relations)


def names_of(entities: Iterable[Entity]) -> list[str]:
    """All names under which somebody or something is known."""
    return [name for entity in entities for name in (entity.name, *entity.aliases)]


def is_joinable(known: Known) -> bool:
    """Is it of a kind of which several may say the same?"""
    return known.memory.kind in JOINED_KINDS


def is_kept(memory: Memory) -> bool:
    """Has the person decided that it stays?"""
    return memory.is_pinned or memory.is_by_person


def has_faded(known: Known, now: Micros) -> bool:
    """Was it seen once, long ago, and never sure?"""
    standing = known.standing
    return (
        standing.confidence < FADES_BELOW
        and standing.times_seen == 1
        and now - standing.last_seen > FADES_AFTER
        and abs(known.memory.impact) < PEAK
        and not is_kept(known.memory)
    )


def too_many(
    known: Iterable[Known], now: Micros, *, but: Collection[MemoryId]
) -> list[Known]:  # fmt: skip
    """The patterns worth least of more than are kept, ``but`` some and what the person keeps."""
    patterns = [each for each in known if each.memory.kind == "pattern"]
    excess = len(patterns) - MOST_PATTERNS
    free = (e for e in patterns if e.memory.id not in but and not is_kept(e.memory))
    return nsmallest(excess, free, key=partial(worth_of, now=now)) if excess > 0 else []


def standing_order(known: Known) -> tuple[bool, float, float, int, Micros]:
    """What the person keeps is strongest, then what stands firmer, then what is older."""
    standing = known.standing
    return (
        is_kept(known.memory), standing.strength, standing.confidence, standing.times_seen,
        -known.memory.learned_at,
    )  # fmt: skip


def kind_and_language(known: Known) -> tuple[str, str]:
    """Only what is alike in both is compared."""
    return known.memory.kind, known.memory.language


def joined_up(ours: tuple[Of, ...], theirs: tuple[Of, ...]) -> tuple[Of, ...]:
    """All of both, each once."""
    return tuple(dict.fromkeys((*ours, *theirs)))


def first_known(
    choose: Callable[[Micros, Micros], Micros], one: Micros | None, other: Micros | None
) -> Micros | None:
    """One of two times, or the one that is known."""
    if one is None or other is None:
        return other if one is None else one
    return choose(one, other)
