"""What does the companion know of the person, whatever is being said? And of whom they speak of.

What people have written about who is who, the profile, what is open, who is named, what was said in
short. Reads, and writes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import Entity, Known, Summary
from oldfriend.domain.people import Person
from oldfriend.memory.beliefs import list_summaries
from oldfriend.memory.core_blocks import CoreBlock, list_blocks
from oldfriend.memory.overtaking import stands
from oldfriend.memory.profile import NO_PROFILE, Profile, in_order_of_worth
from oldfriend.memory.search import BeliefIndex, Question, Reached
from oldfriend.memory.search.graph import Fits, holds_now
from oldfriend.memory.search.past import Times
from oldfriend.memory.search.questions import matter_of
from oldfriend.memory.shelf import Shelf
from oldfriend.memory.soul import soul_text
from oldfriend.turn.recall import offset_at

MOST_NAMED = 3
"""Of so many who are named at once everything important is at hand."""
MOST_ABOUT_ONE = 12
MOST_TIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Somebody or something with a name, and what is believed about them."""

    entity: Entity
    known: tuple[Known, ...]
    ties: tuple[Reached, ...] = ()  # to whom and what they are tied, and those again, nearer first

    @property
    def told(self) -> tuple[Known, ...]:
        """All of it, ties first; what a tie says already is not said again."""
        ties = [each.known for each in self.ties]
        said = {each.memory.text for each in ties}
        return (*ties, *(each for each in self.known if each.memory.text not in said))


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquaintance:
    """What is known of a person without any search."""

    soul: str = ""  # who the companion is to everybody, in people's words
    blocks: tuple[CoreBlock, ...] = ()  # and to this person, and who they are to it
    profile: Profile = NO_PROFILE
    about: tuple[About, ...] = ()  # whom the words name
    between: tuple[Known, ...] = ()  # how the first two of them are tied to each other
    unsure: tuple[tuple[Entity, Entity], ...] = ()  # named, and perhaps the same as another
    entities: tuple[Entity, ...] = ()
    summaries: tuple[Summary, ...] = ()  # the highest level first, then as they were


NOBODY_KNOWN = Acquaintance()


async def acquaint(
    tx: Transaction, shelf: Shelf, person: Person, text: str, *, now: Micros
) -> Acquaintance:
    """What is known of a person who says this; ties are those of the time that is asked about."""
    summaries = tuple(await list_summaries(tx, person.id))
    beliefs = await shelf.beliefs_of(tx, person.id)
    named = beliefs.named_in(text)[:MOST_NAMED]
    sure = [each for each in named if each.status != "uncertain"]
    fits = fitting_ties(text, person, now=now) if sure else holds_now
    return Acquaintance(
        soul=await soul_text(tx),
        blocks=tuple(await list_blocks(tx, person.id)),
        profile=beliefs.profile(now),
        about=tuple(about_one(beliefs, each, fits=fits) for each in sure),
        between=tied_together(beliefs, sure, fits=fits),
        entities=beliefs.entities,
        unsure=tuple(
            (one, other) for one, other in beliefs.unsure if one in named or other in named
        ),
        summaries=summaries,
    )  # fmt: skip


def fitting_ties(text: str, person: Person, *, now: Micros) -> Fits:
    """Which ties are of the time that is asked about; of now, where it is no other."""
    matter = matter_of(text)
    question = Question(
        text=text, language=person.language or "", sense=None, asked_at=now,
        zone_offset_s=offset_at(now, person.zone),
    )  # fmt: skip
    times = Times(question, asks_once=matter is not None and matter.is_past)
    return times.fits if times.is_past else holds_now


def tied_together(
    beliefs: BeliefIndex, named: Sequence[Entity], *, fits: Fits
) -> tuple[Known, ...]:
    """How the first two are tied to each other at one time; where they are not, how they were."""
    if len(named) < 2:
        return ()
    one, other = named[0].id, named[1].id
    was = beliefs.graph.between(one, other, fits=lambda known: stands(known.memory))
    return beliefs.graph.between(one, other, fits=fits) or (was if len(was) == 1 else ())


def about_one(beliefs: BeliefIndex, entity: Entity, *, fits: Fits) -> About:
    """What is believed about one, and to whom and what they are tied at one time."""
    known = [each for each in beliefs.about(entity.id) if each.memory.kind != "triple"]
    return About(
        entity=entity,
        known=tuple(in_order_of_worth(known)[:MOST_ABOUT_ONE]),
        ties=beliefs.graph.walk([entity.id], most=MOST_TIES, fits=fits),
    )
