"""Are the two really tied so? Both are named where it was said, and can be tied in that way.

What others say ties only themselves. Told by names and by whose the words are; which kind of tie
the words tell of is left to whoever has read them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.background.extraction import Named, Tied
from oldfriend.background.gates.bonds import (
    bonds_in,
    has_borne,
    is_turned,
    tells_of,
    tells_parting,
)
from oldfriend.background.gates.clauses import clauses_of
from oldfriend.background.gates.evidence import supporting
from oldfriend.background.gates.founding import around
from oldfriend.background.gates.harm import order_fault, secret_fault
from oldfriend.background.gates.meant import irony_fault
from oldfriend.background.gates.mending import mended, tidy
from oldfriend.background.gates.modality import beginning_of, denies
from oldfriend.background.gates.naming import is_name, is_within
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.shape import range_fault, time_fault
from oldfriend.background.gates.talk import Case, Talk, spoken_in
from oldfriend.background.gates.telltales import folded
from oldfriend.background.gates.wording import length_fault, pronoun_fault, weakness_fault
from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import EntityId, ObjectId
from oldfriend.domain.memories import Entity, EntityKind
from oldfriend.domain.ties import edge_between, is_possible

GATES: Final = (
    range_fault, time_fault, length_fault, pronoun_fault, weakness_fault, secret_fault,
    order_fault, irony_fault,
)  # fmt: skip


def checked_tie(tied: Tied, places: tuple[Place, ...], talk: Talk) -> Tied | Reason:
    """A tie as it may be believed, or the first reason against it."""
    support = supporting(tied.claim, places, talk)
    if isinstance(support, str):
        return support
    case = Case(claim=tidy(tied.claim, talk), places=support, talk=talk)
    fault = next((fault for gate in GATES if (fault := gate(case)) is not None), None)
    fault = fault or ends_fault(tied, support, talk) or bond_fault(tied, case) or visit_fault(case)
    if fault is not None:
        return fault
    value = names_of(tied.second or tied.first, talk)[0]
    return replace(tied, claim=replace(mended(case), value=value))


def ends_fault(tied: Tied, places: Sequence[Place], talk: Talk) -> Reason | None:
    """Somebody is nobody, is named nowhere near, or cannot be tied to the other like that."""
    ends = [each for each in (tied.first, tied.second) if each]
    names = [names_of(each, talk) for each in ends]
    if not all(any(is_name(name, talk) for name in each) for each in names):
        return "unfit name"
    if is_one_and_same(names):
        return "unfit name"
    said = [place.said for place in places]
    case = Case(claim=tied.claim, places=tuple(places), talk=talk)
    near = [message.text for place in places for message in around(place, case)]
    speakers = [place.message.speaker for place in places if place.message.trust == "other"]
    are_near = all(is_called(each, [*near, *speakers]) for each in names)
    if not are_near or not any(is_called(each, said) for each in names):
        return "unfit name"
    if not all(is_called(each, [tied.claim.text]) for each in names):
        return "unfit name"
    if speakers and not is_called(names_of(tied.first, talk), speakers):
        return "words of another"
    return None if fits(tied, talk) else "unfit kind"


def bond_fault(tied: Tied, case: Case) -> Reason | None:
    """The words tell of another tie, or of the same the other way round."""
    said = " ".join(place.said for place in case.places)
    near = " ".join(each.text for place in case.places for each in around(place, case))
    language = language_of(case)
    is_over = tied.claim.holds_until is not None
    has_parted = is_over and tied.tie == "partner_of" and tells_parting(said, language=language)
    if not (has_parted or tells_of(tied.tie, said, near=near, language=language)):
        return "unfounded"
    is_denied = not is_over and is_told_apart(tied, case)
    if is_of_another_place(tied, case) or is_denied or is_own_child(tied, case):
        return "unfounded"
    is_own = not (tied.first and tied.second)
    is_other_way = is_own and is_turned(tied.tie, said, by_first=not tied.first, language=language)
    return "unfounded" if is_other_way else None


def is_of_another_place(tied: Tied, case: Case) -> bool:
    """Whether somebody would work in a town of which the words say only that they are there."""
    if tied.tie != "works_at" or kind_of(tied.second, case.talk) != "place":
        return False
    named = clauses_with(names_of(tied.second, case.talk), case)
    told = [bonds_in(each, language_of(case)) for each in named]
    return not any("work" in bonds and "home" not in bonds for bonds in told)


def is_told_apart(tied: Tied, case: Case) -> bool:
    """Whether one of the two is named only to say that they are not the other."""
    if tied.tie != "partner_of" or not (tied.first and tied.second):
        return False
    told, language = spoken_in(case.places[0]), language_of(case)
    ends = [names_of(each, case.talk) for each in (tied.first, tied.second)]
    named = [[until_named(each, names) for each in clauses_with(names, case)] for names in ends]
    return any(
        bool(clauses) and all(denies(each, language, told) for each in clauses) for clauses in named
    )


def until_named(clause: str, names: Sequence[str]) -> str:
    """What of a clause stands before a name, and a little after: the rest denies other things."""
    ends = [clause.find(name) + len(name) for name in map(folded, names) if name in clause]
    end = min(ends)
    return clause[:end] + beginning_of(clause[end:])


def is_own_child(tied: Tied, case: Case) -> bool:
    """Whether somebody who had a child would be that of their own."""
    child = {"child_of": tied.first, "parent_of": tied.second}.get(tied.tie, "")
    said = " ".join(place.said for place in case.places)
    return any(
        has_borne(name, said, language=language_of(case))
        for name in (names_of(child, case.talk) if child else ())
    )


def clauses_with(names: Iterable[str], case: Case) -> list[str]:
    """The clauses of what was said in which somebody is named."""
    clauses = [each.text for place in case.places for each in clauses_of(place.said)]
    return [each for each in clauses if any(folded(name) in each for name in names)]


def language_of(case: Case) -> str:
    """In which language it was said."""
    return case.places[0].message.language or case.talk.language


def visit_fault(case: Case) -> Reason | None:
    """Somebody is said to have been where they are only going to be."""
    claim = case.claim
    if claim.key != "visited" or claim.holds_from is None:
        return None
    last = max(place.message.at for place in case.places)
    return "impossible time" if claim.holds_from > last + DAY else None


def names_of(end: str, talk: Talk) -> tuple[str, ...]:
    """All names of whoever is at an end, given by id or by name."""
    for entity in talk.material.entities:
        known = (entity.name, *entity.aliases)
        if end == entity.id or end.casefold() in {name.casefold() for name in known}:
            return known
    for named in talk.named:
        known = (named.name, *named.aliases)
        if end.casefold() in {name.casefold() for name in known}:
            return known
    return (end,)


def is_one_and_same(names: Sequence[tuple[str, ...]]) -> bool:
    """Whether both ends are the same by name."""
    folded = [{name.casefold() for name in each} for each in names]
    return len(folded) > 1 and not folded[0].isdisjoint(folded[1])


def is_called(names: Iterable[str], texts: Sequence[str]) -> bool:
    """Whether one of somebody's names stands in one of the texts."""
    return any(is_within(name, texts) for name in names)


def fits(tied: Tied, talk: Talk) -> bool:
    """Whether there is such a tie, and between two such."""
    ends = [EntityId(ObjectId(each)) if each else None for each in (tied.first, tied.second)]
    if edge_between(tied.tie, ends[0], ends[1]) is None:
        return False
    kinds = [kind_of(each, talk) for each in (tied.first, tied.second)]
    return is_possible(tied.tie, kinds[0], kinds[1])


def kind_of(end: str, talk: Talk) -> EntityKind:
    """What somebody or something at an end is, as far as that is known."""
    if not end:
        return "person"
    known: list[Entity | Named] = [*talk.material.entities, *talk.named]
    names = {name.casefold() for name in names_of(end, talk)}
    return next((each.kind for each in known if each.name.casefold() in names), "other")
