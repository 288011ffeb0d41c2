"""What does the companion know of the person, whatever is being said? And of whom they speak of.

What people have written about who is who, the profile, what is open, who is named, what was said in
short. Reads, and writes nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import Entity, Known, Summary
from oldfriend.domain.people import Person
from oldfriend.memory.beliefs import list_summaries
from oldfriend.memory.core_blocks import CoreBlock, list_blocks
from oldfriend.memory.profile import NO_PROFILE, Profile, in_order_of_worth
from oldfriend.memory.search import named_in
from oldfriend.memory.shelf import Shelf
from oldfriend.memory.soul import soul_text

MOST_NAMED = 3
"""Of so many who are named at once everything important is at hand."""
MOST_ABOUT_ONE = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Somebody or something with a name, and what is believed about them."""

    entity: Entity
    known: tuple[Known, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquaintance:
    """What is known of a person without any search."""

    soul: str = ""  # who the companion is to everybody, in people's words
    blocks: tuple[CoreBlock, ...] = ()  # and to this person, and who they are to it
    profile: Profile = NO_PROFILE
    about: tuple[About, ...] = ()  # whom the words name
    unsure: tuple[tuple[Entity, Entity], ...] = ()  # named, and perhaps the same as another
    entities: tuple[Entity, ...] = ()
    summaries: tuple[Summary, ...] = ()  # the highest level first, then as they were


NOBODY_KNOWN = Acquaintance()


async def acquaint(
    tx: Transaction, shelf: Shelf, person: Person, text: str, *, now: Micros
) -> Acquaintance:
    """What is known of a person who says this."""
    summaries = tuple(await list_summaries(tx, person.id))
    beliefs = await shelf.beliefs_of(tx, person.id)
    entities = beliefs.entities
    named = named_in(text, entities)[:MOST_NAMED]
    about = tuple(
        About(
            entity=each,
            known=tuple(in_order_of_worth(beliefs.about(each.id))[:MOST_ABOUT_ONE]),
        )
        for each in named
        if each.status != "uncertain"
    )
    return Acquaintance(
        soul=await soul_text(tx),
        blocks=tuple(await list_blocks(tx, person.id)),
        profile=beliefs.profile(now), about=about,
        unsure=tuple(perhaps_same(entities, named)), entities=entities,
        summaries=summaries,
    )  # fmt: skip


def perhaps_same(
    entities: Sequence[Entity], named: Sequence[Entity]
) -> Iterator[tuple[Entity, Entity]]:
    """Those of whom it is not known whether they are the same, where one of them is named."""
    by_id = {each.id: each for each in entities}
    for each in entities:
        other = None if each.same_as is None else by_id.get(each.same_as)
        if each.status == "uncertain" and other is not None and (each in named or other in named):
            yield each, other
