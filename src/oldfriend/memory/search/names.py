"""Whom and what does a question name, of all that have a name in somebody's life?"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from oldfriend.domain.memories import Entity

_FIRST_UNSPACED = "\u2e80"
_SPACED = rf"[^\W{_FIRST_UNSPACED}-\U0010ffff]"  # a letter that would make a name a longer word
_BEGINNING = re.compile(f"{_SPACED}+")


class Names:
    """Many names, by how they begin: only those that may stand in a text are tried."""

    __slots__ = ("_entities", "_places")

    def __init__(self, entities: Sequence[Entity]) -> None:
        """Have these at hand."""
        self._entities = entities
        self._places: defaultdict[str, set[int]] = defaultdict(set)
        for place, entity in enumerate(entities):
            for name, _ in _names_of([entity]):
                self._places[_beginning_of(name)].add(place)

    def named_in(self, text: str) -> tuple[Entity, ...]:
        """Those of whom a name stands in a text."""
        folded = text.casefold()
        begins = {*_BEGINNING.findall(folded), *folded}
        places = {place for each in begins for place in self._places.get(each, ())}
        return named_in(text, [self._entities[place] for place in sorted(places)])


def _beginning_of(name: str) -> str:
    """The first word of a name; of one in a script without spaces, its first sign."""
    found = _BEGINNING.match(name)
    return found[0] if found else name[0]


def named_in(text: str, entities: Sequence[Entity]) -> tuple[Entity, ...]:
    """Those whose name or other name stands in a text; of two names in one place the longer.

    Who is only called by the first of their names is meant by it where nobody has it alone.
    """
    left = text.casefold()
    found: dict[str, Entity] = {}
    for name, entity in sorted(_names_of(entities), key=lambda pair: -len(pair[0])):
        if name in left:
            left, stood = _without(name, left)
            if stood:
                found.update({each.id: each for each in _bearing(name, entities)})
                found[entity.id] = entity
    for entity in entities:
        first = entity.name.casefold().split()[0] if entity.name.strip() else ""
        if len(first) > 1 and _without(first, left)[1]:
            found[entity.id] = entity
    return tuple(found.values())


def _names_of(entities: Sequence[Entity]) -> Iterator[tuple[str, Entity]]:
    for entity in entities:
        for name in (entity.name, *entity.aliases):
            if len(name.strip()) > 1:
                yield name.strip().casefold(), entity


def _bearing(name: str, entities: Sequence[Entity]) -> Iterator[Entity]:
    return (entity for known, entity in _names_of(entities) if known == name)


def _without(name: str, text: str) -> tuple[str, bool]:
    """A text without a name where it stands alone, and whether it did."""
    stood, place = False, text.find(name)
    while place >= 0:
        end = place + len(name)
        if _stands_alone(name, text, place, end):
            text, stood = f"{text[:place]} {text[end:]}", True
        place = text.find(name, place + 1)
    return text, stood


def _stands_alone(name: str, text: str, begin: int, end: int) -> bool:
    """Whether no letter around it makes a longer word of a name."""
    if name[0] >= _FIRST_UNSPACED:
        return True
    around = text[begin - 1 : begin] + text[end : end + 1] if begin else text[end : end + 1]
    return not any(c < _FIRST_UNSPACED and (c.isalnum() or c == "_") for c in around)


def perhaps_same(entities: Sequence[Entity]) -> Iterator[tuple[Entity, Entity]]:
    """Those of whom it is not known whether they are the same as another."""
    unsure = [each for each in entities if each.status == "uncertain"]
    by_id = {each.id: each for each in entities} if unsure else {}
    for each in unsure:
        if each.same_as in by_id:
            yield each, by_id[each.same_as]
