"""Entities of a store against the names of a life."""

from collections.abc import Iterable, Sequence
from itertools import combinations

from oldfriend.domain.memories import Entity
from oldfriend_evals.lives.life import Called, Life


def compute_recognized_share(entities: Sequence[Entity], life: Life) -> float:
    """Of everybody and everything that has a name in a life, those that are known by it."""
    known = {name for entity in _list_present(entities) for name in _list_names(entity)}
    names = [called.name for called in life.truth.names]
    return sum(name.casefold() in known for name in names) / len(names)


def list_confused(entities: Sequence[Entity], life: Life) -> list[tuple[Called, Called]]:
    """Those who are two, and are taken for one."""
    pairs = combinations(life.truth.names, 2)
    return [
        (one, other)
        for one, other in pairs
        if any(
            {one.name.casefold(), other.name.casefold()} <= _list_names(entity)
            for entity in _list_present(entities)
        )
    ]


def _list_present(entities: Iterable[Entity]) -> list[Entity]:
    return [entity for entity in entities if entity.status != "merged" and entity.ended_at is None]


def _list_names(entity: Entity) -> set[str]:
    return {name.casefold() for name in (entity.name, *entity.aliases)}
