"""Cascade: supersedes notes, events and facts that end along with a changed fact or preference.

A note is in the person's own words, and so is what supersedes it; it stays readable as history. A
person who has lost a pet no longer has it, and the pet no longer lives anywhere or likes anything;
what people were stays true.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import Entity, MemoryState, ObjectLink, RelationType
from oldfriend.domain.profile_attributes import HEALTH_KEYS, HOME_KEYS
from oldfriend.domain.relations import PERMANENT, RELATION_KEY_SUFFIX
from oldfriend.domain.relations import PET_ROLES as ANIMALS
from oldfriend.lang.language_pack import get_traits, load_language_pack
from oldfriend.learning.extraction import Claim, RelationClaim
from oldfriend.learning.resolution.attribute_resolution import (
    OPPOSITE_KEYS,
    find_by_value,
    fold_value,
    get_last_confirmed_at,
    is_about_same_key,
    is_past_claim,
)
from oldfriend.learning.resolution.claim_matching import find_best_match
from oldfriend.learning.resolution.resolution_state import ResolutionState
from oldfriend.search.synonyms import get_role_words

CHINESE_COUNTER: Final = re.compile("^一[只条匹头个]")
"""A counter before a Chinese noun, which no space separates from it."""
PET_KEYS: Final = frozenset({"pet", "pets"})
LIVING_KEYS: Final = frozenset(("age", "weight", *HOME_KEYS, *HEALTH_KEYS))
"""Keys of what holds only while somebody lives."""
PERMANENT_RELATIONS: Final[frozenset[RelationType]] = PERMANENT | {"visited"}
"""Relations that stay true whoever has died since."""


def end_outdated(state: ResolutionState, claim: Claim) -> None:
    """End notes and events that contradict a claim that is now believed, and were said before it.

    The belief keeps links to them.
    """
    values = [each for each in state.list_live(claim.kind) if is_about_same_key(each, claim)]
    belief = find_by_value(values, claim.value)
    if belief is None or claim.signal == "implicit" or is_past_claim(state, claim):
        return
    said_at = state.get_said_at(claim)
    outdated = [
        each for each in iter_outdated(state, claim) if get_last_confirmed_at(each) < said_at
    ]
    links = (ObjectLink(kind="supersedes", target=each.memory.id) for each in outdated)
    relations = tuple(dict.fromkeys((*belief.memory.relations, *links)))
    state.change(belief, replace(belief.memory, relations=relations), "revised")
    for each in outdated:
        state.end(each, "superseded", "superseded", claim, until=claim.holds_from or said_at)


def end_if_pet_died(state: ResolutionState, claim: Claim, claims: Sequence[Claim]) -> Claim:
    """Return a claim about a pet with its end if the same segment reports the pet's death."""
    if (
        claim.kind != "fact"
        or not claim.key.endswith(RELATION_KEY_SUFFIX)
        or claim.holds_until is not None
    ):
        return claim
    until = find_pet_death_time(state, [claim.key.removesuffix(RELATION_KEY_SUFFIX)], claims)
    return claim if until is None else replace(claim, holds_until=until)


def end_relation_if_pet_died(
    state: ResolutionState, relation: RelationClaim, claims: Sequence[Claim]
) -> RelationClaim:
    """Return a relation of a pet with its end if the same segment reports the pet's death."""
    claim = relation.claim
    if relation.kind in PERMANENT_RELATIONS or claim.holds_until is not None:
        return relation
    until = find_pet_death_time(state, [relation.first, relation.second], claims)
    return relation if until is None else replace(relation, claim=replace(claim, holds_until=until))


def find_pet_death_time(
    state: ResolutionState, names: Iterable[str], claims: Sequence[Claim]
) -> Micros | None:
    """Return when the pet with one of these names or ids died, if that is reported."""
    wanted = {fold_value(name) for name in names}
    for each in claims:
        pet = find_dead_pet(state, each)
        if pet is not None and not wanted.isdisjoint({fold_value(pet.id), *get_folded_names(pet)}):
            return each.happened_at or state.get_said_at(each)
    return None


def end_pet_beliefs(state: ResolutionState, claim: Claim) -> None:
    """End the beliefs about a pet whose death an event reports; the event keeps links to them."""
    said_at = state.get_said_at(claim)
    ended = [
        each for each in iter_ended_by_death(state, claim) if get_last_confirmed_at(each) <= said_at
    ]
    event = find_best_match(state, claim, state.list_live("event")) if ended else None
    if event is None:
        return
    links = (ObjectLink(kind="supersedes", target=each.memory.id) for each in ended)
    relations = tuple(dict.fromkeys((*event.memory.relations, *links)))
    state.change(event, replace(event.memory, relations=relations), "revised")
    for each in ended:
        state.end(
            each, "superseded", "superseded", claim, until=event.memory.happened_at or said_at
        )


def iter_ended_by_death(state: ResolutionState, claim: Claim) -> Iterator[MemoryState]:
    """Yield the beliefs that end with the death of a pet."""
    pet = find_dead_pet(state, claim)
    if pet is not None:
        yield from iter_living_facts(state, pet)
        yield from iter_pet_facts(state, pet)
        yield from iter_pet_relations(state, pet)
    elif (species := get_dead_species(state, claim)) and not list_pets_of_species(state, species):
        yield from iter_only_pet(state, species, state.get_language(claim))


def find_dead_pet(state: ResolutionState, claim: Claim) -> Entity | None:
    """Return the pet whose death an event reports: by its name, or the only one of its species."""
    if not is_death_event(state, claim):
        return None
    mentioned = map(state.entities.get, state.list_mentioned_entities(claim))
    pets = [each for each in mentioned if each is not None and each.kind == "pet"]
    if not pets and (species := get_dead_species(state, claim)):
        pets = list_pets_of_species(state, species)
    return pets[0] if len(pets) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingWords:
    """The words by which beliefs end in a language."""

    died: re.Pattern[str]  # an animal
    possessive: str  # before the word for the speaker's own pet


@lru_cache(maxsize=32)
def load_ending_words(language: str) -> EndingWords | None:
    """Load the words by which beliefs end in a language, if it has any."""
    words = load_language_pack(language).read("endings")
    if not words:
        return None
    return EndingWords(
        died=re.compile(words["died"], re.IGNORECASE),
        possessive=words["possessive"],
    )


def is_death_event(state: ResolutionState, claim: Claim) -> bool:
    """Return whether an event reports a death."""
    is_bad = claim.kind == "event" and claim.impact < 0
    words = load_ending_words(state.get_language(claim))
    return is_bad and words is not None and words.died.search(claim.text) is not None


def get_dead_species(state: ResolutionState, claim: Claim) -> str:
    """Return the species of the speaker's animal that has died ("my dog"); else ""."""
    language = state.get_language(claim)
    if not is_death_event(state, claim):
        return ""
    words = sorted(get_role_words(language), key=len, reverse=True)
    for word in (each for each in words if get_role_words(language)[each] in ANIMALS):
        named, own = build_animal_patterns(word, language)
        if named.search(claim.text) and any(own.search(quote.text) for quote in claim.quotes):
            return get_role_words(language)[word]
    return ""


def build_animal_patterns(word: str, language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns for a word for an animal, and for one of the speaker's own."""
    words = load_ending_words(language)
    possessive = words.possessive if words else ""
    whole = rf"\b{word}\b" if get_traits(language).spaces else word
    named, own = (re.compile(each, re.IGNORECASE) for each in (whole, possessive + whole))
    return named, own


def list_pets_of_species(state: ResolutionState, species: str) -> list[Entity]:
    """Return the pets of a species that are known by name."""
    keys = [e.memory.key for e in state.list_live("fact") if e.memory.value == species]
    names = {
        fold_value(key.removesuffix(RELATION_KEY_SUFFIX))
        for key in keys
        if key.endswith(RELATION_KEY_SUFFIX)
    }
    return [each for each in state.entities.values() if get_folded_names(each) & names]


def iter_only_pet(state: ResolutionState, species: str, language: str) -> Iterator[MemoryState]:
    """Yield the belief that there is one animal of a species, unless there are several."""
    pets = [
        each
        for each in state.list_live("fact")
        if each.memory.key in PET_KEYS
        and get_role_words(language).get(get_animal_word(each)) == species
    ]
    yield from pets if len(pets) == 1 else ()


def get_animal_word(known: MemoryState) -> str:
    """Return the word for the animal that somebody has ("a small dog"); "" if none is left."""
    return "".join(CHINESE_COUNTER.sub("", fold_value(known.memory.value)).split()[-1:])


def get_folded_names(entity: Entity) -> set[str]:
    """Return the normalized names of an entity."""
    return {fold_value(name) for name in (entity.name, *entity.aliases)}


def iter_pet_facts(state: ResolutionState, pet: Entity) -> Iterator[MemoryState]:
    """Yield the facts about a pet by name; and by species if no other pet has the same."""
    names = get_folded_names(pet)
    facts = [
        each for each in state.list_live("fact") if each.memory.key.endswith(RELATION_KEY_SUFFIX)
    ]
    own_facts = [
        each
        for each in facts
        if fold_value(each.memory.key.removesuffix(RELATION_KEY_SUFFIX)) in names
    ]
    other_facts = [each for each in facts if each not in own_facts]
    yield from own_facts
    for known in state.list_live("fact"):
        species = get_animal_word(known)
        if (
            known.memory.key in PET_KEYS
            and species
            and has_word(own_facts, species)
            and not has_word(other_facts, species)
        ):
            yield known


def iter_living_facts(state: ResolutionState, pet: Entity) -> Iterator[MemoryState]:
    """Yield the facts about a pet that hold only while it lives, such as its age."""
    names = get_folded_names(pet)
    for known in state.list_live("fact"):
        subject, _, bare = known.memory.key.rpartition(":")
        if bare in LIVING_KEYS and fold_value(subject) in names:
            yield known


def iter_pet_relations(state: ResolutionState, pet: Entity) -> Iterator[MemoryState]:
    """Yield the relations of a pet that end with it."""
    for known in state.list_live("triple"):
        edge = state.names.find_edge(known.memory)
        if edge is not None and pet.id in edge.ends and edge.relation not in PERMANENT_RELATIONS:
            yield known


def has_word(facts: Sequence[MemoryState], word: str) -> bool:
    """Return whether one of some facts contains a word."""
    return any(word in fold_value(each.memory.text) for each in facts)


def iter_outdated(state: ResolutionState, claim: Claim) -> Iterator[MemoryState]:
    """Yield notes with an incompatible value, and events that began what has ended."""
    if claim.subject != "person":
        return
    for known in state.list_live("note"):
        stated = state.parse_plain_statement(known.memory)
        if stated is not None and is_incompatible_value(claim, *stated):
            yield known
    for known in state.list_live("event") if claim.ended_claim is not None else ():
        new_role = state.parse_new_role(known.memory)
        if (
            new_role
            and claim.ended_claim is not None
            and fold_value(new_role) == fold_value(claim.ended_claim.value)
        ):
            yield known


def is_incompatible_value(claim: Claim, key: str, value: str) -> bool:
    """Return whether a value of a key cannot hold together with a claim."""
    if key == OPPOSITE_KEYS.get(claim.key):
        return fold_value(value) == fold_value(claim.value)
    if key != claim.key or fold_value(value) == fold_value(claim.value):
        return False
    ended_value = "" if claim.ended_claim is None else claim.ended_claim.value
    return is_single_valued(claim) or fold_value(value) == fold_value(ended_value)
