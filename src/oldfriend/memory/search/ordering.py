"""In which order are beliefs told that answer alike, and which of them twice? None twice.

Knows no question but whether it asks of before, or for the latest.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import Known, Memory
from oldfriend.memory.overtaking import is_same_key
from oldfriend.memory.search.believed import BeliefHit
from oldfriend.memory.search.groups import Group, group_of
from oldfriend.memory.search.latest import Answer, newest_first

OUTDONE: Final = 0.5  # what is so now, where one asks what was so before it


def without_what_came_after(hits: Sequence[BeliefHit]) -> list[BeliefHit]:
    """What is so now comes later where it was asked what was so before it."""
    past = [each.known.memory for each in hits if each.known.memory.ended_at is not None]
    return [
        replace(each, score=each.score * OUTDONE) if _comes_after(each.known.memory, past) else each
        for each in hits
    ]


def _comes_after(memory: Memory, past: Sequence[Memory]) -> bool:
    """Whether something is so now, and something else of the same key was so before."""
    if memory.ended_at is not None:
        return False
    is_tie = memory.kind == "triple"
    return any(is_same_key(memory, each) if is_tie else memory.key == each.key for each in past)


def each_once(best_first: Sequence[BeliefHit]) -> list[BeliefHit]:
    """Of all that say the same thing about the same topic, the best."""
    best: dict[Group, BeliefHit] = {}
    for hit in best_first:
        best.setdefault(group_of(hit.known.memory), hit)
    return list(best.values())


def by_date(best_first: Sequence[BeliefHit], now: Micros | None) -> list[BeliefHit]:
    """What answers comparably in order of its date, newest first; what is to come is not of it."""
    dates = [date_of(hit.known) for hit in best_first]
    moments = [at if now is None or at <= now else 0 for at in dates]
    places = newest_first(
        [Answer(hit.score, hit.why, at) for hit, at in zip(best_first, moments, strict=True)]
    )
    return [
        replace(best_first[place], score=hit.score)
        for place, hit in zip(places, best_first, strict=True)
    ]


def date_of(known: Known) -> Micros:
    """When it happened, began or was last so."""
    memory, standing = known.memory, known.standing
    if memory.kind == "pattern":
        return standing.last_seen
    return memory.happened_at or memory.holds_from or standing.first_seen
