"""What have rules read that a model could read better, and what would that take?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.app.forming.tending import is_by_rules, plan_reading
from oldfriend.app.house import House
from oldfriend.domain.ids import PersonId
from oldfriend.memory.segments import Segment, list_segments

AROUND: Final = 2_600
"""Tokens of the instructions, of what is known, and of what was said before, beside the talk."""
MARKED: Final = 1.4
"""The talk with its labels, for each of its tokens."""
GIVEN: Final = 700
"""Tokens that a model writes about a stretch of talk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rereading:
    """What a model would read, and about how many tokens that takes."""

    segments: tuple[Segment, ...]
    messages: int
    tokens_in: int
    tokens_out: int


async def what_rules_read(house: House, person: PersonId) -> Rereading:
    """Everything of a person that rules have read, oldest first; small talk needs no model."""
    async with house.db.reading() as tx:
        done = await list_segments(tx, person, status=["done"])
    segments = tuple(filter(is_by_rules, done))
    return foresee(segments, passes=house.settings.memory.passes)


def foresee(segments: Sequence[Segment], *, passes: int) -> Rereading:
    """About how many tokens a model takes to read some segments."""
    talk = sum(each.tokens for each in segments)
    tokens_in, tokens_out = likely_tokens(talk, stretches=len(segments), passes=passes)
    return Rereading(
        segments=tuple(segments), messages=sum(each.messages for each in segments),
        tokens_in=tokens_in, tokens_out=tokens_out,
    )  # fmt: skip


def likely_tokens(talk: int, *, stretches: int, passes: int) -> tuple[int, int]:
    """About how many tokens a model is given for so many of talk, and how many it gives back."""
    return round(passes * (MARKED * talk + AROUND * stretches)), passes * GIVEN * stretches


async def plan_rereading(house: House, rereading: Rereading) -> None:
    """Have a model read it, in order; what rules have found stands until then."""
    async with house.db.writing() as tx:
        for segment in rereading.segments:
            await plan_reading(tx, segment, now=house.clock(), by="model")
        await tx.wake()
    house.waking.ring()
