"""What is believed now or was on a day, and on which words does it rest? Reads only."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.app.house import House
from oldfriend.background.likeness import matter_of
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros, parse_moment, start_of_day
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId
from oldfriend.domain.language import detect_language
from oldfriend.domain.memories import (
    Believed,
    Entity,
    Evidence,
    Known,
    Memory,
    MemoryKind,
    Standing,
    Summary,
)
from oldfriend.domain.messages import Message
from oldfriend.domain.people import Person
from oldfriend.domain.sayings import saying
from oldfriend.domain.ties import Names
from oldfriend.memory.beliefs import (
    find_object,
    get_known,
    list_entities,
    list_memories,
    list_summaries,
)
from oldfriend.memory.changes import believed_at, list_changes_of
from oldfriend.memory.evidence import list_evidence, list_evidence_of
from oldfriend.memory.meanings import load_meanings
from oldfriend.memory.people import get_person_by_id
from oldfriend.memory.receipts import Uses, find_uses
from oldfriend.memory.search import Graph
from oldfriend.memory.search.asked_for import owner_of
from oldfriend.memory.segments import find_segment, list_messages_in
from oldfriend.turn.recall import vector_of

CLOSE = 0.35
"""From such a cosine on a belief may mean what was asked for, also in other words."""
TYING: Final[tuple[MemoryKind, ...]] = ("triple", "fact", "preference")
ONE_DAY = len("2026-03-14")


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """Something believed, with the words for and against it."""

    what: Believed
    standing: Standing | None = None  # of memories
    words: tuple[Evidence, ...] = ()
    ties: tuple[Known, ...] = ()  # of somebody with a name: to whom and what, nearer first
    base: int | None = None  # seq of its newest change then, where that was read
    uses: Uses | None = None  # of a memory: for which replies it came to mind, where that was read
    made_of: tuple[Message | Summary, ...] = ()  # of a summary, where that was read; oldest first


async def list_beliefs(
    tx: Transaction, person: PersonId, *, kinds: Collection[MemoryKind] = (), live: bool = True
) -> list[Belief]:
    """The memories of some kinds, or of all, oldest first; with ``live`` False ended ones, too."""
    known = await list_memories(tx, person, kinds=kinds, live=live)
    evidence = await list_evidence(tx, person)
    return [with_words(each, evidence.get(each.memory.id, ())) for each in known]


async def list_names(tx: Transaction, person: PersonId, *, live: bool = True) -> list[Belief]:
    """Whom and what is known by name; with ``live`` False also what was merged or rejected."""
    entities = await list_entities(tx, person, live=live)
    evidence = await list_evidence_of(tx, person, [each.id for each in entities])
    return [Belief(what=each, words=tuple(evidence.get(each.id, ()))) for each in entities]


async def list_told(tx: Transaction, person: PersonId, *, active: bool = True) -> list[Summary]:
    """What was said, in short; with ``active`` False also what was folded into others."""
    return await list_summaries(tx, person, active=active)


async def find_belief(tx: Transaction, person: PersonId, name: str) -> Belief:
    """The one thing whose id begins or ends so. Raises NotFound, InvalidInput."""
    object_id, kind = await find_object(tx, person, name)
    if kind in {"entity", "summary"}:
        history = await list_changes_of(tx, person, ObjectId(object_id))
        words = await list_evidence_of(tx, person, [ObjectId(object_id)])
        return Belief(
            what=history[-1].after, words=tuple(words.get(ObjectId(object_id), ())),
            ties=await ties_of(tx, person, {EntityId(ObjectId(object_id))}),
            base=history[-1].seq, made_of=await parts_of(tx, person, history[-1].after),
        )  # fmt: skip
    memory = MemoryId(ObjectId(object_id))
    evidence = await list_evidence_of(tx, person, [memory])
    found = with_words(await get_known(tx, person, memory), evidence.get(memory, ()))
    return replace(found, uses=await find_uses(tx, person, memory))


async def parts_of(
    tx: Transaction, person: PersonId, what: Believed
) -> tuple[Message | Summary, ...]:
    """Of what a summary was made: of others, or of what was said; nothing of all else."""
    if not isinstance(what, Summary):
        return ()
    if what.sources:
        others = await list_summaries(tx, person, active=False)
        return tuple(each for each in others if each.id in what.sources)
    segments = [await find_segment(tx, person, each) for each in what.segments]
    said = [await list_messages_in(tx, each) for each in segments if each is not None]
    return tuple(message for each in said for message in each)


async def beliefs_at(tx: Transaction, person: PersonId, at: Micros) -> list[Belief]:
    """What was believed at a moment, with such of its words as were said by then; oldest first."""
    evidence = await list_evidence(tx, person)
    return [
        Belief(what=change.after, words=said_by(at, evidence.get(change.object, ())))
        for change in await believed_at(tx, person, at)
        if change.after.ended_at is None and is_told(change.after)
    ]


def said_by(at: Micros, words: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Such of these words as had been said at a moment."""
    return tuple(each for each in words if each.said_at <= at)


def is_told(what: Believed) -> bool:
    """Whether it stands for itself; a summary that was folded into another does not."""
    return not isinstance(what, Summary) or what.is_active


async def about(tx: Transaction, person: PersonId, name: str, told: list[Belief]) -> list[Belief]:
    """What of these is about somebody or something with a name. Raises NotFound.

    By the person's own name, what is of them.
    """
    meant = await ids_named(tx, person, name)
    names = name.casefold()
    is_own = not meant and names == (await get_person_by_id(tx, person)).name.casefold()
    found = [
        each
        for each in told
        if (isinstance(each.what, Memory) and meant & set(each.what.entities))
        or each.what.id in meant
        or names in text_of(each.what).casefold()
        or (is_own and is_of_the_person(each.what))
    ]
    if found or meant or is_own:
        return found
    raise NotFound(
        saying("name_unknown", f"Nothing is known of {name!r}. See: oldfriend entities", name=name)
    )


def is_of_the_person(what: Believed) -> bool:
    """Whether it is about the person, and filed under nobody else's name."""
    return isinstance(what, Memory) and what.subject == "person" and not owner_of(what)


async def list_about(tx: Transaction, person: PersonId, name: str) -> list[Belief]:
    """Who is called so, to whom and what they are tied, and what else is believed about them.

    Raises NotFound.
    """
    meant = await ids_named(tx, person, name)
    names = [each for each in await list_names(tx, person) if each.what.id in meant]
    evidence = await list_evidence(tx, person)
    ties = [
        with_words(each, evidence.get(each.memory.id, ()))
        for each in await ties_of(tx, person, meant)
    ]
    told = {each.what.id for each in (*names, *ties)}
    others = await about(tx, person, name, await list_beliefs(tx, person))
    return [*names, *ties, *(each for each in others if each.what.id not in told)]


async def ties_of(
    tx: Transaction, person: PersonId, entities: Collection[EntityId]
) -> tuple[Known, ...]:
    """The ties that are reached from some within two steps, nearer first."""
    if not entities:
        return ()
    names = Names(await list_entities(tx, person, live=False))
    graph = Graph(await list_memories(tx, person, kinds=TYING), names)
    start = dict.fromkeys(names.meant_by(each) for each in entities)
    return tuple(each.known for each in graph.walk([*start]))


async def ids_named(tx: Transaction, person: PersonId, name: str) -> set[EntityId]:
    """The entities with a name, and those that were merged with them."""
    entities = await list_entities(tx, person, live=False)
    wanted = name.casefold()
    meant = {
        each.id
        for each in entities
        if wanted in {other.casefold() for other in (each.name, *each.aliases)}
    }
    joined = {(each.id, each.same_as) for each in entities if each.status == "merged"}
    kept = {into for one, into in joined if one in meant and into is not None}
    return meant | kept | {one for one, into in joined if into in meant | kept}


async def search_beliefs(
    house: House, person: Person, words: str, *, live: bool = True
) -> list[Belief]:
    """The memories in which these words stand, or that mean nearly the same; best first."""
    language = detect_language(words, fallback=person.language or "en")
    wanted = matter_of(words, language)
    vector = await vector_of(house.embedder, words)
    async with house.db.reading() as tx:
        told = await list_beliefs(tx, person.id, live=live)
        meanings = await load_meanings(tx, person.id, house.embedder.model)
    scored: list[tuple[float, Belief]] = []
    for each in told:
        stems = matter_of(f"{text_of(each.what)} {key_of(each.what)}", language)
        share = len(wanted & stems) / max(len(wanted), 1)
        meaning = meanings.get(MemoryId(each.what.id))
        cosine = 0.0 if vector is None or meaning is None else float(vector @ meaning)
        if share or cosine >= CLOSE:
            scored.append((share + cosine, each))
    return [each for _, each in sorted(scored, key=lambda pair: -pair[0])]


def with_words(known: Known, words: Sequence[Evidence]) -> Belief:
    """A memory as it stands, with its words."""
    return Belief(what=known.memory, standing=known.standing, words=tuple(words), base=known.base)


def text_of(what: Believed) -> str:
    """What it says."""
    if isinstance(what, Entity):
        return f"{what.name}. {what.description}"
    return what.text


def key_of(what: Believed) -> str:
    """The words of a fact's key and value."""
    return f"{what.key} {what.value}".replace("_", " ") if isinstance(what, Memory) else ""


def moment_named(text: str, zone: str, *, now: Micros) -> Micros:
    """The moment that a date or time names; of a date the end, but never later than now.

    Raises InvalidInput.
    """
    at, at_zone = parse_moment(text, zone)
    if len(text.strip()) <= ONE_DAY:
        at = start_of_day(at + DAY + DAY // 2, at_zone) - 1
        at = max(at, parse_moment(text, zone)[0])
    if at > now + DAY:
        raise InvalidInput(saying("still_to_come", f"{text} is still to come.", text=text))
    return min(at, now)
