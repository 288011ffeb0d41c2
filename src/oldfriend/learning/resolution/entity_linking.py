"""Entity linking: decides whether a name means a known entity, a new one, or possibly a known one.

If it is unclear, the person is asked; what they have said about it is binding.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from oldfriend.domain.ids import EntityId, ObjectId, new_id
from oldfriend.domain.memories import Entity
from oldfriend.learning.extraction import EntityMention, SameAsClaim
from oldfriend.learning.resolution.attribute_resolution import fold_value
from oldfriend.learning.resolution.resolution_state import ResolutionState

NAME_PARTS: Final = re.compile(r"[^\s,;，、()]+")
"""Parts of a name: "Bali, Indonesia" has two."""
MIN_FUZZY_LENGTH = 5
"""In shorter names, one different letter makes another name."""


def resolve_mention(state: ResolutionState, mention: EntityMention) -> None:
    """Resolve a named person or thing."""
    if fold_value(mention.name) in state.context.excluded_names:
        return
    evidence = state.build_quote_evidence(mention.quotes)
    known = find_entity(state, (mention.name, *mention.aliases))
    if known is None:
        state.set_entity(build_entity(state, mention), "learned", evidence)
        return
    aliases = merge_aliases(known, mention)
    is_new = aliases != known.aliases and not known.is_by_person
    after = replace(known, aliases=aliases) if is_new else known
    state.set_entity(after, "revised" if is_new else None, evidence)


def resolve_same_as(state: ResolutionState, same_as: SameAsClaim) -> None:
    """Resolve what the person said about whether two names mean the same."""
    one, other = find_entity(state, [same_as.one]), find_entity(state, [same_as.other])
    if one is None or other is None or one.id == other.id:
        state.rejected["not known"] += 1
        return
    evidence = state.build_quote_evidence(same_as.quotes)
    kept, other_entity = sorted((one, other), key=lambda each: (each.learned_at, -len(each.name)))
    if same_as.is_same and is_separated_by_person(one, other):
        state.rejected["overruled by the person"] += 1
    elif same_as.is_same:
        aliases = tuple(dict.fromkeys((*kept.aliases, other_entity.name, *other_entity.aliases)))
        state.set_entity(replace(kept, aliases=aliases, status="confirmed"), "revised", evidence)
        merged = replace(other_entity, status="merged", same_as=kept.id, ended_at=state.context.now)
        state.set_entity(merged, "merged", evidence)
    else:
        told_apart = (other_entity, kept)
        for first, second in ((one, other), (other, one)):
            if first.status == "uncertain" and first.same_as == second.id:
                told_apart = (first, second)  # else it would be asked about again
        first, second = told_apart
        separate = replace(first, status="separate", same_as=second.id)
        state.set_entity(separate, "separated", evidence)


def is_separated_by_person(one: Entity, other: Entity) -> bool:
    """Return whether the person has separated two entities themselves."""
    return any(
        first.is_by_person and first.status == "separate" and first.same_as == second.id
        for first, second in ((one, other), (other, one))
    )


def build_entity(state: ResolutionState, mention: EntityMention) -> Entity:
    """Build a new entity; uncertain if it may be a known one."""
    possible_match = next(iter_possible_matches(mention, state.entities.values()), None)
    return Entity(
        id=EntityId(ObjectId(new_id(state.context.now))),
        person=state.context.person,
        name=mention.name,
        kind=mention.kind,
        aliases=mention.aliases,
        status="confirmed" if possible_match is None else "uncertain",
        same_as=None if possible_match is None else possible_match.id,
        learned_at=state.context.now,
    )


def find_entity(state: ResolutionState, names: Iterable[str]) -> Entity | None:
    """Return the current entity with one of these names or ids."""
    wanted = [fold_value(name) for name in names]
    by_id = next((each for each in state.entities.values() if each.id in wanted), None)
    if by_id is not None:
        return by_id
    for name in wanted:
        for entity in state.entities.values():
            if entity.ended_at is None and name in map(fold_value, (entity.name, *entity.aliases)):
                return entity
    return None


def merge_aliases(known: Entity, mention: EntityMention) -> tuple[str, ...]:
    """Return all other names of an entity, newly heard ones last."""
    known_names = {fold_value(known.name), *map(fold_value, known.aliases)}
    new = [name for name in (mention.name, *mention.aliases) if fold_value(name) not in known_names]
    return (*known.aliases, *dict.fromkeys(new))


def iter_possible_matches(mention: EntityMention, entities: Iterable[Entity]) -> Iterator[Entity]:
    """Yield entities of the same kind whose name is part of this one, or nearly the same."""
    name = fold_value(mention.name)
    for entity in entities:
        other = fold_value(entity.name)
        if entity.ended_at is None and entity.kind == mention.kind and is_similar_name(name, other):
            yield entity


def is_similar_name(one: str, other: str) -> bool:
    """Return whether one name is short for the other, or differs in one letter."""
    shorter, longer = sorted((NAME_PARTS.findall(one), NAME_PARTS.findall(other)), key=len)
    if len(shorter) < len(longer):
        return set(shorter) <= set(longer)
    return min(len(one), len(other)) >= MIN_FUZZY_LENGTH and is_one_edit_apart(one, other)


def is_one_edit_apart(one: str, other: str) -> bool:
    """Return whether one letter was added, removed or changed."""
    if abs(len(one) - len(other)) > 1:
        return False
    shorter, longer = sorted((one, other), key=len)
    first_difference = next(
        (n for n, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), None
    )
    if first_difference is None:
        return len(shorter) != len(longer)
    skip = 1 if len(shorter) == len(longer) else 0
    return shorter[first_difference + skip :] == longer[first_difference + 1 :]
