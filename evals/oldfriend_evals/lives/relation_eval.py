"""Relations of a life, as a reader tells them, and as they are kept.

The reader names each tie with the line that tells it, and once more the wrong way round.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Entity, RelationType, StoredBelief
from oldfriend.domain.relations import SYMMETRIC, EntityResolver
from oldfriend.llm.model import CompletionRequest
from oldfriend_evals.lives.life import Life, LineId, Tied
from oldfriend_evals.lives.prompt_parser import add_part, find_line

SAYINGS: Final[Mapping[str, Mapping[RelationType, str]]] = {
    "en": {
        "partner_of": "{0} is the partner of {1}.",
        "parent_of": "{0} is a parent of {1}.",
        "child_of": "{0} is a child of {1}.",
        "sibling_of": "{0} is a sibling of {1}.",
        "relative_of": "{0} is a relative of {1}.",
        "friend_of": "{0} is a friend of {1}.",
        "colleague_of": "{0} is a colleague of {1}.",
        "works_at": "{0} works at {1}.",
        "lives_in": "{0} lives in {1}.",
        "owns": "{0} has {1}.",
    },
    "es": {
        "partner_of": "{0} es pareja de {1}.",
        "parent_of": "{0} es madre o padre de {1}.",
        "child_of": "{0} es hijo o hija de {1}.",
        "sibling_of": "{0} es hermano o hermana de {1}.",
        "relative_of": "{0} es pariente de {1}.",
        "friend_of": "{0} tiene amistad con {1}.",
        "colleague_of": "{0} es colega de {1}.",
        "works_at": "{0} trabaja en {1}.",
        "lives_in": "{0} vive en {1}.",
        "owns": "{0} tiene a {1}.",
    },
    "zh": {
        "partner_of": "{0}和{1}是一对。",
        "parent_of": "{0}是{1}的父母。",
        "child_of": "{0}是{1}的孩子。",
        "sibling_of": "{0}和{1}是兄弟姐妹。",
        "relative_of": "{0}是{1}的亲戚。",
        "friend_of": "{0}和{1}是朋友。",
        "colleague_of": "{0}和{1}是同事。",
        "works_at": "{0}在{1}工作。",
        "lives_in": "{0}住在{1}。",
        "owns": "{0}有{1}。",
    },
}
ONE_WAY: Final = frozenset[RelationType]({"parent_of", "child_of", "works_at", "lives_in", "owns"})
"""Ties that say something else the other way round."""
Edge = tuple[str, RelationType, str]


def add_relations(life: Life, request: CompletionRequest, answered: str) -> str:
    """An answer of a reader, with the ties that are told in what was read."""
    return add_part(life, request, answered, "ties", list_relation_items)


def list_relation_items(life: Life, lines: Mapping[LineId, str]) -> Iterator[JsonValue]:
    """The ties that some lines tell, and those of them that go one way also the other way."""
    for tied in life.truth.ties:
        if tied.line in lines:
            yield build_relation_item(tied.one, tied.tie, tied.other, tied, life, lines)
            if tied.tie in ONE_WAY:
                yield build_relation_item(tied.other, tied.tie, tied.one, tied, life, lines)


def build_relation_item(
    first: str, tie: RelationType, second: str, tied: Tied, life: Life, lines: Mapping[LineId, str]
) -> JsonValue:
    """A tie in an answer."""
    ends = ["person" if is_person(name, life) else name for name in (first, second)]
    quote: JsonValue = {"message": lines[tied.line], "text": find_line(life, tied.line).spoken.text}
    return {
        "first": ends[0],
        "tie": tie,
        "second": ends[1],
        "text": SAYINGS[life.language][tie].format(first, second),
        "quotes": [quote],
        "confidence": 0.9,
        "signal": "explicit",
    }


def is_person(name: str, life: Life) -> bool:
    """Whether a name is that of the person."""
    return name in life.person or life.person in name


def list_edges(
    memories: Iterable[StoredBelief], entities: Sequence[Entity], life: Life
) -> set[Edge]:
    """The ties that are or were believed, between names of the truth."""
    names = EntityResolver(entities)
    edges = (names.find_edge(memory) for memory in memories)
    ends = {each.id: find_called(each.name, life) for each in entities}
    return {
        normalize_edge(
            edge.relation, "" if edge.first is None else ends[edge.first], ends[edge.second]
        )
        for edge in edges
        if edge is not None
    }


def list_known_relations(edges: Collection[Edge], life: Life) -> list[Tied]:
    """The ties of the truth that are among edges, the right way round."""
    return [tied for tied in life.truth.ties if build_edge(tied, life) in edges]


def list_wrong_relations(edges: Iterable[Edge], life: Life) -> list[Edge]:
    """Edges that are the wrong way round, or of another sort than all between these two."""
    right = {build_edge(tied, life) for tied in life.truth.ties}
    told = {frozenset((one, other)) for one, _, other in right}
    return [edge for edge in edges if edge not in right and {edge[0], edge[2]} in told]


def build_edge(tied: Tied, life: Life) -> Edge:
    """A tie of the truth."""
    one, other = (
        "" if is_person(name, life) else find_called(name, life) for name in (tied.one, tied.other)
    )
    return normalize_edge(tied.tie, one, other)


def normalize_edge(tie: RelationType, one: str, other: str) -> Edge:
    """A tie in one form, however it was said."""
    if tie == "child_of":
        return normalize_edge("parent_of", other, one)
    first, second = sorted((one, other)) if tie in SYMMETRIC else (one, other)
    return first, tie, second


def find_called(name: str, life: Life) -> str:
    """Whom the truth calls so."""
    return next((each.name for each in life.truth.names if name in each.names), name)
