"""What else is over when a fact or preference changes? What said the same in a note, or began it.

A note is in the person's words, and so is what overtakes it; it stays to be read as history. And
who has lost a pet has it no more, nor does it live or like anything; of people it stays true who
they were.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.background.deciding.attributes import (
    OPPOSITE,
    folded,
    is_about,
    is_over,
    last_word,
    with_value,
)
from oldfriend.background.deciding.deliberation import Deliberation
from oldfriend.background.deciding.joining import nearest
from oldfriend.background.extraction import Claim, Tied
from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import Entity, Known, Relation, Tie
from oldfriend.domain.ties import FOR_GOOD, RELATION_OF
from oldfriend.domain.ties import PETS as ANIMALS
from oldfriend.memory.overtaking import has_one_value
from oldfriend.memory.search.parts import parts_in

LOST: Final[Mapping[str, re.Pattern[str]]] = {
    "en": re.compile(
        r"\b(?:died|passed away|put (?:[\w ]{1,30} )?(?:down|to sleep))\b", re.IGNORECASE
    ),
    "es": re.compile(
        r"\b(?:muri[óo]|ha muerto|falleció|ha fallecido|sacrific\w+)\b", re.IGNORECASE
    ),
    "fr": re.compile(r"\b(?:est morte?|décédée?|euthanasi\w+)\b|^morte?\b", re.IGNORECASE),
    "de": re.compile(r"\b(?:starb|gestorben|eingeschläfert)\b", re.IGNORECASE),
    "zh": re.compile("死了|去世|离世|没了|走了|安乐死"),
}
"""How it is said that an animal has died."""
ONE_OF: Final = re.compile("^一[只条匹头个]")
"""Before the word for a single one, where no space parts them."""
OWN: Final[Mapping[str, str]] = {
    "en": r"\b(?:my|our) (?:\w+ )?",
    "es": r"\b(?:mi|nuestr[oa]) (?:\w+ )?",
    "fr": r"\b(?:mon|ma|notre) (?:\w+ )?",
    "de": r"\b(?:meine?|unsere?) (?:\w+ )?",
    "zh": "我们?家?的?[小老]?",
}
"""Before the word for a pet of one's own."""
PETS: Final = frozenset({"pet", "pets"})
OUTLIVING: Final[frozenset[Tie]] = FOR_GOOD | {"visited"}
"""Ties that were so once and for all, whoever has died since."""


def outdate(thinking: Deliberation, claim: Claim) -> None:
    """End what says otherwise than a fact or preference that is believed now, and was said before.

    What is believed keeps which these were.
    """
    values = [each for each in thinking.live(claim.kind) if is_about(each, claim)]
    holder = with_value(values, claim.value)
    if holder is None or claim.signal == "implicit" or is_over(thinking, claim):
        return
    heard_at = thinking.heard_at(claim)
    outdated = [each for each in said_otherwise(thinking, claim) if last_word(each) < heard_at]
    links = (Relation(kind="supersedes", other=each.memory.id) for each in outdated)
    relations = tuple(dict.fromkeys((*holder.memory.relations, *links)))
    thinking.change(holder, replace(holder.memory, relations=relations), "revised")
    for each in outdated:
        thinking.end(each, "superseded", "superseded", claim, until=claim.holds_from or heard_at)


def as_lost(thinking: Deliberation, claim: Claim, told: Sequence[Claim]) -> Claim:
    """What says that a pet is there, as it is known where the same talk tells of its death."""
    if claim.kind != "fact" or not claim.key.endswith(RELATION_OF) or claim.holds_until is not None:
        return claim
    until = lost_at(thinking, [claim.key.removesuffix(RELATION_OF)], told)
    return claim if until is None else replace(claim, holds_until=until)


def tie_as_lost(thinking: Deliberation, tied: Tied, told: Sequence[Claim]) -> Tied:
    """What ties a pet to somebody or something, the same way."""
    claim = tied.claim
    if tied.tie in OUTLIVING or claim.holds_until is not None:
        return tied
    until = lost_at(thinking, [tied.first, tied.second], told)
    return tied if until is None else replace(tied, claim=replace(claim, holds_until=until))


def lost_at(
    thinking: Deliberation, names: Iterable[str], told: Sequence[Claim]
) -> Micros | None:  # fmt: skip
    """When a pet has died that has one of these names or ids, where that is told."""
    wanted = {folded(name) for name in names}
    for each in told:
        pet = lost_pet(thinking, each)
        if pet is not None and not wanted.isdisjoint({folded(pet.id), *names_of(pet)}):
            return each.happened_at or thinking.heard_at(each)
    return None


def outdate_pets(thinking: Deliberation, claim: Claim) -> None:
    """End that somebody has a pet that has died, as an event tells, which keeps what it ended."""
    heard_at = thinking.heard_at(claim)
    over = [each for each in gone(thinking, claim) if last_word(each) <= heard_at]
    event = nearest(thinking, claim, thinking.live("event")) if over else None
    if event is None:
        return
    links = (Relation(kind="supersedes", other=each.memory.id) for each in over)
    relations = tuple(dict.fromkeys((*event.memory.relations, *links)))
    thinking.change(event, replace(event.memory, relations=relations), "revised")
    for each in over:
        thinking.end(each, "superseded", "superseded", claim, until=event.memory.happened_at)


def gone(thinking: Deliberation, claim: Claim) -> Iterator[Known]:
    """What is so no more since a pet has died, as an event tells."""
    pet = lost_pet(thinking, claim)
    if pet is not None:
        yield from of_pet(thinking, pet)
        yield from tied_to(thinking, pet)
    elif (sort := lost_sort(thinking, claim)) and not called(thinking, sort):
        yield from the_only(thinking, sort, thinking.language_of(claim))


def lost_pet(thinking: Deliberation, claim: Claim) -> Entity | None:
    """The pet of whose death an event tells: by its name, or it is the only one of that sort."""
    if not tells_death(thinking, claim):
        return None
    named = map(thinking.entities.get, thinking.named_in(claim))
    pets = [each for each in named if each is not None and each.kind == "pet"]
    if not pets and (sort := lost_sort(thinking, claim)):
        pets = called(thinking, sort)
    return pets[0] if len(pets) == 1 else None


def tells_death(thinking: Deliberation, claim: Claim) -> bool:
    """Whether an event tells that somebody has died."""
    died = LOST.get(thinking.language_of(claim))
    is_bad = claim.kind == "event" and claim.impact < 0
    return is_bad and died is not None and died.search(claim.text) is not None


def lost_sort(thinking: Deliberation, claim: Claim) -> str:
    """Which sort of animal of their own somebody tells has died: "my dog"; else ""."""
    language = thinking.language_of(claim)
    if not tells_death(thinking, claim):
        return ""
    words = sorted(parts_in(language), key=len, reverse=True)
    for word in (each for each in words if parts_in(language)[each] in ANIMALS):
        whole = word if language == "zh" else rf"\b{word}\b"
        is_told = re.search(whole, claim.text, re.IGNORECASE) is not None
        own = re.compile(OWN[language] + whole, re.IGNORECASE)
        if is_told and any(own.search(quote.text) for quote in claim.quotes):
            return parts_in(language)[word]
    return ""


def called(thinking: Deliberation, sort: str) -> list[Entity]:
    """The pets of a sort that are there by their names."""
    keys = [e.memory.key for e in thinking.live("fact") if e.memory.value == sort]
    names = {folded(key.removesuffix(RELATION_OF)) for key in keys if key.endswith(RELATION_OF)}
    return [each for each in thinking.entities.values() if names_of(each) & names]


def the_only(thinking: Deliberation, sort: str, language: str) -> Iterator[Known]:
    """What says that there is one animal of a sort, if no more than one says so."""
    here = [
        each
        for each in thinking.live("fact")
        if each.memory.key in PETS and parts_in(language).get(word_for(each)) == sort
    ]
    yield from here if len(here) == 1 else ()


def word_for(known: Known) -> str:
    """The word for the animal that somebody has: "a small dog"; of several there is none."""
    return "".join(ONE_OF.sub("", folded(known.memory.value)).split()[-1:])


def names_of(entity: Entity) -> set[str]:
    """By which somebody is known, as they are compared."""
    return {folded(name) for name in (entity.name, *entity.aliases)}


def of_pet(thinking: Deliberation, pet: Entity) -> Iterator[Known]:
    """What says that a pet is there, by its name; and without, where there is no other such."""
    names = names_of(pet)
    facts = [each for each in thinking.live("fact") if each.memory.key.endswith(RELATION_OF)]
    own = [each for each in facts if folded(each.memory.key.removesuffix(RELATION_OF)) in names]
    others = [each for each in facts if each not in own]
    yield from own
    for known in thinking.live("fact"):
        sort = word_for(known)
        if known.memory.key in PETS and sort and tells(own, sort) and not tells(others, sort):
            yield known


def tied_to(thinking: Deliberation, pet: Entity) -> Iterator[Known]:
    """The ties of a pet that end with it."""
    for known in thinking.live("triple"):
        edge = thinking.names.edge_of(known.memory)
        if edge is not None and pet.id in edge.ends and edge.tie not in OUTLIVING:
            yield known


def tells(facts: Sequence[Known], word: str) -> bool:
    """Whether one of some facts has a word in it."""
    return any(word in folded(each.memory.text) for each in facts)


def said_otherwise(thinking: Deliberation, claim: Claim) -> Iterator[Known]:
    """The notes that give another value of the same, and what tells that it came to be so."""
    if claim.subject != "person":
        return
    for known in thinking.live("note"):
        stated = thinking.stated(known.memory)
        if stated is not None and is_otherwise(claim, *stated):
            yield known
    for known in thinking.live("event") if claim.ends is not None else ():
        began = thinking.began(known.memory)
        if began and claim.ends is not None and folded(began) == folded(claim.ends.value):
            yield known


def is_otherwise(claim: Claim, key: str, value: str) -> bool:
    """Whether a value of a key cannot hold beside a claim."""
    if key == OPPOSITE.get(claim.key):
        return folded(value) == folded(claim.value)
    if key != claim.key or folded(value) == folded(claim.value):
        return False
    was = "" if claim.ends is None else claim.ends.value
    return has_one_value(claim.kind, claim.key) or folded(value) == folded(was)
