"""Who is meant by a name? Somebody known, somebody new, or perhaps somebody known.

When it is not clear, it is asked; what the person has said about it holds.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from oldfriend.background.deciding.attributes import folded
from oldfriend.background.deciding.deliberation import Deliberation
from oldfriend.background.extraction import Named, Sameness
from oldfriend.domain.ids import EntityId, ObjectId, new_id
from oldfriend.domain.memories import Entity

PARTS: Final = re.compile(r"[^\s,;，、()]+")
"""Of a name: "Bali, Indonesia" has two."""
LONG_ENOUGH = 5
"""Letters; in shorter names one other letter makes another name."""


def decide_name(thinking: Deliberation, named: Named) -> None:
    """Somebody or something was named."""
    if folded(named.name) in thinking.scene.names:
        return
    words = thinking.quoted(named.quotes)
    known = find(thinking, (named.name, *named.aliases))
    if known is None:
        thinking.set_entity(new_entity(thinking, named), "learned", words)
        return
    aliases = added(known, named)
    is_new = aliases != known.aliases and not known.is_by_person
    after = replace(known, aliases=aliases) if is_new else known
    thinking.set_entity(after, "revised" if is_new else None, words)


def decide_sameness(thinking: Deliberation, told: Sameness) -> None:
    """The person has said whether two names mean the same."""
    one, other = find(thinking, [told.one]), find(thinking, [told.other])
    if one is None or other is None or one.id == other.id:
        thinking.refused["not known"] += 1
        return
    words = thinking.quoted(told.quotes)
    keep, go = sorted((one, other), key=lambda each: (each.learned_at, -len(each.name)))
    if told.is_same and are_kept_apart(one, other):
        thinking.refused["overruled by the person"] += 1
    elif told.is_same:
        joined = tuple(dict.fromkeys((*keep.aliases, go.name, *go.aliases)))
        thinking.set_entity(replace(keep, aliases=joined, status="confirmed"), "revised", words)
        gone = replace(go, status="merged", same_as=keep.id, ended_at=thinking.scene.now)
        thinking.set_entity(gone, "merged", words)
    else:
        thinking.set_entity(replace(go, status="separate", same_as=keep.id), "separated", words)


def are_kept_apart(one: Entity, other: Entity) -> bool:
    """Whether the person has separated two names themselves."""
    return any(
        first.is_by_person and first.status == "separate" and first.same_as == second.id
        for first, second in ((one, other), (other, one))
    )


def new_entity(thinking: Deliberation, named: Named) -> Entity:
    """An entity that was not known; uncertain where it may be one that is."""
    perhaps = next(maybe_same(named, thinking.entities.values()), None)
    return Entity(
        id=EntityId(ObjectId(new_id(thinking.scene.now))), person=thinking.scene.person,
        name=named.name, kind=named.kind, aliases=named.aliases,
        status="confirmed" if perhaps is None else "uncertain",
        same_as=None if perhaps is None else perhaps.id, learned_at=thinking.scene.now,
    )  # fmt: skip


def find(thinking: Deliberation, names: Iterable[str]) -> Entity | None:
    """The entity with one of these names or ids, as it stands now."""
    wanted = [folded(name) for name in names]
    by_id = next((each for each in thinking.entities.values() if each.id in wanted), None)
    if by_id is not None:
        return by_id
    for name in wanted:
        for entity in thinking.entities.values():
            if entity.ended_at is None and name in map(folded, (entity.name, *entity.aliases)):
                return entity
    return None


def added(known: Entity, named: Named) -> tuple[str, ...]:
    """All other names of somebody, those just heard last."""
    there = {folded(known.name), *map(folded, known.aliases)}
    new = [name for name in (named.name, *named.aliases) if folded(name) not in there]
    return (*known.aliases, *dict.fromkeys(new))


def maybe_same(named: Named, entities: Iterable[Entity]) -> Iterator[Entity]:
    """The entities of the same kind whose name is a part of this one, or nearly the same."""
    name = folded(named.name)
    for entity in entities:
        other = folded(entity.name)
        if entity.ended_at is None and entity.kind == named.kind and is_near(name, other):
            yield entity


def is_near(one: str, other: str) -> bool:
    """Whether one name is the other in short, or has one letter of it otherwise."""
    shorter, longer = sorted((PARTS.findall(one), PARTS.findall(other)), key=len)
    if len(shorter) < len(longer):
        return set(shorter) <= set(longer)
    return min(len(one), len(other)) >= LONG_ENOUGH and is_one_letter_off(one, other)


def is_one_letter_off(one: str, other: str) -> bool:
    """Whether one letter was added, left out or changed."""
    if abs(len(one) - len(other)) > 1:
        return False
    shorter, longer = sorted((one, other), key=len)
    same = next((n for n, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), None)
    if same is None:
        return len(shorter) != len(longer)
    skip = 1 if len(shorter) == len(longer) else 0
    return shorter[same + skip :] == longer[same + 1 :]
