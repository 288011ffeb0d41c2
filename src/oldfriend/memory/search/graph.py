"""Who and what is tied to those whom a question names? Two steps from them, or the way between two.

Ties are under the names that they mean by now, also those that hold no longer; each walk goes along
those of one time. Nobody is reached through the person themself: to them everything is tied. Knows
no database, and of times nothing but who tells which tie is of one.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from oldfriend.domain.ids import EntityId
from oldfriend.domain.memories import Known
from oldfriend.domain.ties import Edge, Names, Node

MOST_REACHED: Final = 10
STEPS: Final = 2
LIKE_ONE_NAMED: Final = 0.3
"""How close what is reached is to a question, at best (ACCEPTANCE H9)."""
FARTHER: Final = 0.8
"""So much of that is left at the second step."""

Fits: TypeAlias = Callable[[Known], bool]
"""Whether a tie is one of the time that is meant."""


def holds_now(known: Known) -> bool:
    """Whether a tie is believed now."""
    return known.memory.is_live


@dataclass(frozen=True, slots=True)
class Reached:
    """A tie that the walk has come upon."""

    known: Known
    through: EntityId  # at whom it was
    step: int  # 1: of somebody named; 2: of somebody tied to them

    @property
    def closeness(self) -> float:
        """How close it is to the question: nearer ones are closer."""
        return LIKE_ONE_NAMED if self.step == 1 else LIKE_ONE_NAMED * FARTHER


@dataclass(frozen=True, slots=True)
class Tied:
    """Who or what is at the other end of a tie."""

    known: Known
    other: Node
    edge: Edge


class Graph:
    """All ties of one person's life: triples, and facts that tie two.

    Of those that say the same, the fact, or else the surest.
    """

    __slots__ = ("_of",)

    def __init__(self, known: Iterable[Known], names: Names) -> None:
        """Tie all ends together, under the names that they mean by now."""
        self._of: defaultdict[Node, list[Tied]] = defaultdict(list)
        for each in sorted(known, key=_doubt):
            edge = names.edge_of(each.memory)
            if edge is not None:
                self._of[edge.first].append(Tied(each, edge.second, edge))
                self._of[edge.second].append(Tied(each, edge.first, edge))

    def of(self, one: Node, *, fits: Fits = holds_now) -> list[Tied]:
        """The ties of somebody, the surest first; of None, those of the person themself."""
        surest: dict[Edge, Tied] = {}
        for tied in self._of.get(one, ()):
            if tied.edge not in surest and fits(tied.known):
                surest[tied.edge] = tied
        return list(surest.values())

    def walk(
        self, start: Sequence[EntityId], *, most: int = MOST_REACHED, fits: Fits = holds_now
    ) -> tuple[Reached, ...]:
        """The ties that are reached from some, the nearest first, of those the surest."""
        reached: dict[str, Reached] = {}
        seen, front = set(start), list(dict.fromkeys(start))
        for step in range(1, STEPS + 1):
            ahead: list[EntityId] = []
            for each, tied in self._around(front, fits):
                if len(reached) == most:
                    return tuple(reached.values())
                reached.setdefault(tied.known.memory.id, Reached(tied.known, each, step))
                if tied.other is not None and tied.other not in seen:
                    seen.add(tied.other)
                    ahead.append(tied.other)
            front = ahead
        return tuple(reached.values())

    def between(
        self, one: EntityId, other: EntityId, *, fits: Fits = holds_now
    ) -> tuple[Known, ...]:
        """The shortest way from one to another, over at most one between them; none: empty."""
        ties = self.of(one, fits=fits)
        direct = next((tied for tied in ties if tied.other == other), None)
        if direct is not None:
            return (direct.known,)
        ends = {tied.other: tied.known for tied in reversed(self.of(other, fits=fits))}
        via = sorted(
            (tied for tied in ties if tied.other in ends), key=lambda tied: tied.other is None
        )
        return (via[0].known, ends[via[0].other]) if via else ()

    def _around(self, front: Sequence[EntityId], fits: Fits) -> Iterator[tuple[EntityId, Tied]]:
        return ((each, tied) for each in front for tied in self.of(each, fits=fits))


def _doubt(known: Known) -> tuple[bool, float, int, int]:
    """What makes one tie come after another: no fact, less sure, said longer ago."""
    standing = known.standing
    return known.memory.kind == "triple", -standing.confidence, -standing.last_seen, known.base
