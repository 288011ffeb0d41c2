"""Entity graph: the relations of one person's entities, walked up to two hops or as a path.

Relations stand under the canonical entity after merges and include ended ones; each walk follows
only the relations that its filter accepts. No walk passes through the person themself, who is
related to everything.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from oldfriend.domain.ids import EntityId
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.relations import Edge, EntityResolver, Node

MAX_REACHED: Final = 10
MAX_HOPS: Final = 2
BASE_SCORE: Final = 0.3
"""Score of a relation of a named entity."""
HOP_DECAY: Final = 0.8
"""Factor on the score at the second hop."""

RelationFilter: TypeAlias = Callable[[MemoryState], bool]
"""Predicate: whether a relation is of the time that is asked about."""


def is_current(known: MemoryState) -> bool:
    """Tell whether a relation is currently believed."""
    return known.memory.is_live


@dataclass(frozen=True, slots=True)
class ReachedRelation:
    """Relation that a walk has reached."""

    known: MemoryState
    via: EntityId  # the entity at which it was reached
    hops: int  # 1: of a named entity; 2: of one of its neighbors

    @property
    def score(self) -> float:
        """Similarity to the question, which falls with the number of hops."""
        return BASE_SCORE if self.hops == 1 else BASE_SCORE * HOP_DECAY


@dataclass(frozen=True, slots=True)
class Neighbor:
    """Node at the other end of a relation."""

    known: MemoryState
    node: Node
    edge: Edge


class EntityGraph:
    """All relations of one person's entities: triples, and facts that relate two.

    Of relations with the same edge a fact is preferred, then the most confident one.
    """

    __slots__ = ("_adjacency",)

    def __init__(self, known: Iterable[MemoryState], names: EntityResolver) -> None:
        """Build the adjacency lists, with merged entities under their canonical ones."""
        self._adjacency: defaultdict[Node, list[Neighbor]] = defaultdict(list)
        for each in sorted(known, key=_sort_key):
            edge = names.find_edge(each.memory)
            if edge is not None:
                self._adjacency[edge.first].append(Neighbor(each, edge.second, edge))
                self._adjacency[edge.second].append(Neighbor(each, edge.first, edge))

    def list_neighbors(self, node: Node, *, matches: RelationFilter = is_current) -> list[Neighbor]:
        """List the neighbors of a node, the most confident first; None is the person themself."""
        best_by_edge: dict[Edge, Neighbor] = {}
        for neighbor in self._adjacency.get(node, ()):
            if neighbor.edge not in best_by_edge and matches(neighbor.known):
                best_by_edge[neighbor.edge] = neighbor
        return list(best_by_edge.values())

    def walk(
        self,
        start: Sequence[EntityId],
        *,
        limit: int = MAX_REACHED,
        matches: RelationFilter = is_current,
    ) -> tuple[ReachedRelation, ...]:
        """Return the relations within two hops, nearest first, then the most confident."""
        reached: dict[str, ReachedRelation] = {}
        seen, current_front = set(start), list(dict.fromkeys(start))
        for hops in range(1, MAX_HOPS + 1):
            next_front: list[EntityId] = []
            for each, neighbor in self._iter_neighbors(current_front, matches):
                if len(reached) == limit:
                    return tuple(reached.values())
                reached.setdefault(
                    neighbor.known.memory.id, ReachedRelation(neighbor.known, each, hops)
                )
                if neighbor.node is not None and neighbor.node not in seen:
                    seen.add(neighbor.node)
                    next_front.append(neighbor.node)
            current_front = next_front
        return tuple(reached.values())

    def find_path(
        self, source_id: EntityId, target_id: EntityId, *, matches: RelationFilter = is_current
    ) -> tuple[MemoryState, ...]:
        """Return a shortest path between two entities, of at most two hops; () if there is none."""
        neighbors = self.list_neighbors(source_id, matches=matches)
        direct = next((neighbor for neighbor in neighbors if neighbor.node == target_id), None)
        if direct is not None:
            return (direct.known,)
        known_by_node = {
            neighbor.node: neighbor.known
            for neighbor in reversed(self.list_neighbors(target_id, matches=matches))
        }
        via = sorted(
            (neighbor for neighbor in neighbors if neighbor.node in known_by_node),
            key=lambda neighbor: neighbor.node is None,
        )
        return (via[0].known, known_by_node[via[0].node]) if via else ()

    def _iter_neighbors(
        self, front: Sequence[EntityId], matches: RelationFilter
    ) -> Iterator[tuple[EntityId, Neighbor]]:
        return (
            (each, neighbor)
            for each in front
            for neighbor in self.list_neighbors(each, matches=matches)
        )


def _sort_key(known: MemoryState) -> tuple[bool, float, int, int]:
    """Sort key: facts before triples, then by confidence, then most recently seen first."""
    stats = known.stats
    return known.memory.kind == "triple", -stats.confidence, -stats.last_seen, known.base_seq
