"""Thought queries: the companion's thoughts with their reasons, and its notes to itself.

Read-only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.beliefs.queries import BeliefDetails, filter_beliefs_about, list_beliefs
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import Memory
from oldfriend.memory.derived_evidence import list_premises
from oldfriend.memory.reflection_log import TRANSCRIPT_TTL, ReflectionRecord, list_reflections


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtDetails:
    """A thought with the memories it was derived from, as far as they exist."""

    thought: BeliefDetails
    sources: tuple[Memory, ...]


async def list_thoughts(
    tx: Transaction,
    person: PersonId,
    *,
    subject: str | None = None,
    entity_name: str | None = None,
    live: bool = True,
) -> list[ThoughtDetails]:
    """Return the thoughts about the person or the companion, or about a name, oldest first.

    Raises NotFound for an unknown name.
    """
    all_thoughts = await list_beliefs(tx, person, kinds=["thought"], live=live)
    found = (
        all_thoughts
        if entity_name is None
        else await filter_beliefs_about(tx, person, entity_name, all_thoughts)
    )
    beliefs = await list_beliefs(tx, person, live=False)
    beliefs_by_id = {ObjectId(each.content.id): each.content for each in beliefs}
    thoughts: list[ThoughtDetails] = []
    for each in found:
        if isinstance(each.content, Memory) and subject in {None, each.content.subject}:
            premises = (beliefs_by_id.get(one) for one in list_premises(each.content))
            sources = tuple(one for one in premises if isinstance(one, Memory))
            thoughts.append(ThoughtDetails(thought=each, sources=sources))
    return thoughts


async def list_transcripts(
    tx: Transaction, person: PersonId, *, now: Micros
) -> list[ReflectionRecord]:
    """Return all reflections that still have a transcript, newest first."""
    reflections = await list_reflections(tx, person, since=now - TRANSCRIPT_TTL + 1)
    return [each for each in reflections if each.transcript is not None]


def get_transcript(ticks: Sequence[ReflectionRecord], partial_id: str) -> ReflectionRecord:
    """Return the transcript with a partial id. Raises NotFound, InvalidInput."""
    wanted = partial_id.strip().lower()
    found = [each for each in ticks if each.id.startswith(wanted) or each.id.endswith(wanted)]
    if not wanted or not found:
        raise NotFound(
            localizable(
                "thought_gone",
                f"There is no transcript {partial_id!r}. They are kept for 14 days; to list them: "
                "oldfriend thoughts --transcripts",
            )
        )
    if len(found) > 1:
        raise InvalidInput(f"{partial_id!r} is the id of several; give more of it.")
    return found[0]
