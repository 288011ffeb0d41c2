"""How does the person's decision about a belief get in? Found by its id, written in one go.

Ids are given in full or by their first or last characters, as everywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from oldfriend.app.believing.looking import ONE_DAY, find_belief
from oldfriend.app.house import House
from oldfriend.app.thinking import background_model
from oldfriend.background.likeness import canonical_hash
from oldfriend.background.merging import Joining, Merged, write_joined
from oldfriend.background.merging import merge as join
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, parse_moment, start_of_day
from oldfriend.domain.errors import InvalidInput, StaleDecision
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import Believed, Entity, Memory
from oldfriend.domain.sayings import saying
from oldfriend.ledger.calls import Asker
from oldfriend.memory import correcting
from oldfriend.memory.beliefs import find_object, get_known, list_memories
from oldfriend.memory.changes import newest_change_of
from oldfriend.memory.people import get_person_by_id, lock_person
from oldfriend.prompts.phrasebook import phrasebook, spoken_language
from oldfriend.turn.quoting import day_in

NEVER = "none"
"""Stands for a day where something has no time."""

Verdict = Literal["pin", "unpin", "confirm", "reject", "unreject"]
BY_PERSON = correcting.BY_PERSON.author
ONCE: Final = frozenset({"fact", "preference"})
"""Kinds of which nothing is so twice."""


async def judge(
    house: House, person: PersonId, verdict: Verdict, name: str, *, base: int | None = None
) -> list[Believed]:
    """Pin, unpin, confirm or reject something, or take that back; it, and what holds again.

    ``base`` is its newest change as the person has seen it (None: whichever). Raises NotFound,
    InvalidInput, StaleDecision.
    """
    now = house.clock()
    async with house.db.writing() as tx:
        each = await meant(tx, person, name)
        await require_unchanged(tx, person, each, base)
        match verdict:
            case "pin":
                return [await correcting.pin(tx, person, each, now=now)]
            case "unpin":
                return [await correcting.unpin(tx, person, each, now=now)]
            case "confirm":
                return [await correcting.confirm(tx, person, each, now=now)]
            case "reject":
                return await correcting.reject(tx, person, each, now=now)
            case "unreject":
                return [await correcting.unreject(tx, person, each, now=now)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """When something is due; None: at no time."""

    at: Micros | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """How something is instead, as a person says; None: as it was."""

    text: str | None = None
    value: str | None = None  # another one: the old one was a mistake, or was so until ``since``
    since: Micros | None = None
    due: Due | None = None


async def put_right(
    house: House, person: PersonId, name: str, how: Correction, *, base: int | None = None
) -> list[Believed]:
    """Say something right, all of it or nothing; what is so now, and what that overtakes.

    ``base`` as with judge. Raises NotFound, InvalidInput, StaleDecision.
    """
    now = house.clock()
    async with house.db.writing() as tx:
        each = await meant(tx, person, name)
        await require_unchanged(tx, person, each, base)
        changed: list[Believed] = []
        if how.due is not None:
            said = partial(
                redated, due_at=how.due.at, zone=(await get_person_by_id(tx, person)).zone
            )
            changed = [await correcting.set_due(tx, person, each, how.due.at, said=said, now=now)]
        if how.text is not None:
            changed = await correcting.edit(
                tx, person, each, how.text, value=how.value, since=how.since, now=now
            )
            changed += await joined_with_the_same(tx, person, changed[0], now=now)
        return changed


async def joined_with_the_same(
    tx: Transaction, person: PersonId, said: Believed, *, now: Micros
) -> list[Believed]:
    """What says the same as something that was just written joins it; how that is then."""
    if not isinstance(said, Memory) or said.kind not in ONCE:
        return []
    known = await list_memories(tx, person, kinds=[said.kind])
    own = next(each for each in known if each.memory.id == said.id)
    words = canonical_hash(said.text, said.language)
    same = [
        each for each in known
        if each is not own and each.memory.language == said.language
        and canonical_hash(each.memory.text, said.language) == words
    ]  # fmt: skip
    joinings = [Joining(stronger=own, weaker=each, author=BY_PERSON) for each in same]
    await write_joined(tx, person, joinings, now=now)
    return [(await get_known(tx, person, each.memory.id)).memory for each in same]


def redated(memory: Memory, *, due_at: Micros | None, zone: str) -> str:
    """What something says with another day, where it names the one on which it was due."""
    book = phrasebook(spoken_language(memory.language))
    if memory.due_at is None:
        return memory.text
    day = day_in(book, memory.due_at, zone)
    if due_at is None:
        return memory.text.replace(f" ({day})", "").replace(f"（{day}）", "")
    return memory.text.replace(day, day_in(book, due_at, zone))


async def edit(
    house: House, person: PersonId, name: str, text: str, *, value: str | None = None,
    since: Micros | None = None,
) -> list[Believed]:  # fmt: skip
    """Say something right in other words, as with put_right."""
    how = Correction(text=text, value=value, since=since)
    return await put_right(house, person, name, how)


def due_on(day: str | None, zone: str) -> Due | None:
    """When something is due: a time, the end of a day, or "none". Raises InvalidInput."""
    if day is None:
        return None
    return Due(at=None if day.strip().casefold() == NEVER else end_named(day, zone))


def changed_on(day: str | None, zone: str) -> Micros | None:
    """The moment that a time names, or the beginning of a day. Raises InvalidInput."""
    if day is None:
        return None
    at, at_zone = parse_moment(day, zone)
    return at if len(day.strip()) > ONE_DAY else start_of_day(at, at_zone)


def end_named(text: str, zone: str) -> Micros:
    """The moment that a time names, or the end of the day that a date does. Raises InvalidInput."""
    at, at_zone = parse_moment(text, zone)
    if len(text.strip()) > ONE_DAY:
        return at
    return start_of_day(at, at_zone, days_back=-1) - 1


async def merge(
    house: House, person: PersonId, keep: str, go: str, *, base: int | None = None
) -> list[Believed]:
    """Two names of the same, or two memories that say the same: the second joins the first.

    ``base`` as with judge, of the first. Raises NotFound, InvalidInput, StaleDecision.
    """
    async with house.db.writing() as tx:
        one, other = await two(tx, person, keep, go)
        await require_unchanged(tx, person, ObjectId(one.id), base)
        if isinstance(one, Entity):
            return await correcting.merge_entities(
                tx, person, EntityId(one.id), EntityId(other.id), now=house.clock()
            )
        return await merge_memories(tx, house, person, (MemoryId(one.id), MemoryId(other.id)))


async def merge_duplicates(house: House, person: PersonId, *, dry_run: bool) -> Merged:
    """Join whatever says the same, and let go what has faded, as tidying does; or what would be.

    Raises StaleDecision, and what the model raises.
    """
    model = await background_model(house, Asker(person=person, is_background=True), "small")
    return await join(
        house.db, person, model=model, embedder=house.embedder.model, now=house.clock(),
        dry_run=dry_run,
    )  # fmt: skip


async def merge_memories(
    tx: Transaction, house: House, person: PersonId, ids: Sequence[MemoryId]
) -> list[Believed]:
    """Let the first of two memories stand on the words of both. Raises InvalidInput."""
    await lock_person(tx, person)
    stronger, weaker = [await get_known(tx, person, each) for each in ids]
    if stronger.memory.kind != weaker.memory.kind:
        kinds = f"{stronger.memory.kind} and {weaker.memory.kind}"
        raise InvalidInput(
            saying("merge_one_kind", f"Only memories of one kind can be merged, not {kinds}.")
        )
    if stronger.memory.ended_at is not None or weaker.memory.ended_at is not None:
        raise InvalidInput(saying("merge_present", "Only what is believed now can be merged."))
    joining = Joining(stronger=stronger, weaker=weaker, author=BY_PERSON)
    await write_joined(tx, person, [joining], now=house.clock())
    return [(await get_known(tx, person, each)).memory for each in ids]


async def separate(
    house: House, person: PersonId, one: str, other: str, *, base: int | None = None
) -> list[Believed]:
    """They are two, whatever was taken for one; and stay so.

    ``base`` as with judge, of the first. Raises NotFound, InvalidInput, StaleDecision.
    """
    now = house.clock()
    async with house.db.writing() as tx:
        first, second = await two(tx, person, one, other)
        await require_unchanged(tx, person, ObjectId(first.id), base)
        if isinstance(first, Entity):
            return await correcting.separate_entities(
                tx, person, EntityId(first.id), EntityId(second.id), now=now
            )
        return await correcting.separate_memories(
            tx, person, MemoryId(first.id), MemoryId(second.id), now=now
        )


async def two(
    tx: Transaction, person: PersonId, one: str, other: str
) -> tuple[Memory | Entity, Memory | Entity]:
    """Two things of one sort. Raises NotFound, InvalidInput."""
    first = (await find_belief(tx, person, one)).what
    second = (await find_belief(tx, person, other)).what
    if first.id == second.id:
        raise InvalidInput(saying("merge_same", "These are one and the same already."))
    if isinstance(first, Memory) and isinstance(second, Memory):
        return first, second
    if isinstance(first, Entity) and isinstance(second, Entity):
        return first, second
    raise InvalidInput(
        saying("merge_two", "Name two memories, or two names; not one of each, and no summary.")
    )


async def meant(tx: Transaction, person: PersonId, name: str) -> ObjectId:
    """The id that a part of it means. Raises NotFound, InvalidInput."""
    object_id, _ = await find_object(tx, person, name)
    return ObjectId(object_id)


async def require_unchanged(
    tx: Transaction, person: PersonId, object_id: ObjectId, base: int | None
) -> None:
    """Go on only where nothing was decided about it since a change. Raises StaleDecision."""
    await lock_person(tx, person)
    if base is not None and await newest_change_of(tx, person, object_id) != base:
        raise StaleDecision(saying(
            "changed_since_looked", "It has changed since you looked. Look again, then decide.",
        ))  # fmt: skip
