"""Does the companion think so? In its own words, of a topic, and of nobody's life.

The one thing beside its promises that its words are evidence of. Nobody else puts it there: an
opinion that comes out of forwarded words is not its own; only that it changed its mind needs the
person's words, too.
"""

from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.gates.clauses import clauses_of, closest_clauses, terms_in
from oldfriend.background.gates.founding import around, shared, terms_of, touches
from oldfriend.background.gates.modality import denies
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.saying import asks
from oldfriend.background.gates.talk import Case, Talk, spoken_in
from oldfriend.background.gates.telltales import folded, telltales_of
from oldfriend.domain.language import detect_language
from oldfriend.domain.memories import EntityKind
from oldfriend.domain.trust import TrustClass
from oldfriend.memory.search.names import Names
from oldfriend.memory.search.words import is_unspaced, words_in

LONGEST_TOPIC: Final = 40
TOLD: Final = 0.5
"""So much of an opinion stands in the words, where its topic does not."""
WITH_A_LIFE: Final[frozenset[EntityKind]] = frozenset({"person", "pet"})
PUT_IN: Final[frozenset[TrustClass]] = frozenset({"outside", "other", "tool"})
"""Whose words an opinion may not come from."""


def opinion_fault(claim: Claim, places: tuple[Place, ...], talk: Talk) -> Reason | None:
    """Why something is no opinion of the companion; none where it is one."""
    own = [place for place in places if place.message.trust == "companion"]
    others = {place.message.trust for place in places} - {"companion"}
    if not own or (others and (claim.bearing != "supersedes" or others != {"person"})):
        return "not its own words"
    if claim.bearing == "supersedes" and not others:
        return "not its own words"
    if all(asks(place.said, spoken_in(place), place.message.language) for place in own):
        return "question"
    if any(is_put_in(claim, place, talk) for place in own):
        return "outside words"
    if not is_topic(claim.key) or not is_told(claim, own) or is_turned(claim, own):
        return "unfounded"
    if is_beside_the_point(claim, own):
        return "unfounded"
    return "about another" if is_about_a_life(claim, own, talk) else None


def is_topic(key: str) -> bool:
    """Whether it is about something, in a few words."""
    return any(character.isalpha() for character in key) and len(key) <= LONGEST_TOPIC


def is_told(claim: Claim, own: list[Place]) -> bool:
    """Whether what is claimed stands in the words, where both are in one language."""
    if not shares_language(claim, own):
        return True
    language = detect_language(claim.text, fallback=own[0].message.language)
    said = " ".join(place.said for place in own)
    heard = terms_in(said, language)
    topic = terms_in(claim.key, language)
    is_named = touches(topic, heard) and touches(terms_in(claim.text, language) - topic, heard)
    return is_named or shared(terms_in(claim.text, language), heard) >= TOLD


def shares_language(claim: Claim, own: list[Place]) -> bool:
    """Whether what is claimed and the words are in one language."""
    usual = own[0].message.language
    said = " ".join(place.said for place in own)
    return detect_language(claim.text, fallback=usual) == detect_language(said, fallback=usual)


def is_turned(claim: Claim, own: list[Place]) -> bool:
    """Whether it denies something and the words deny nothing, or they deny all that it says."""
    if not shares_language(claim, own):
        return False
    language = detect_language(claim.text, fallback=own[0].message.language)
    told = telltales_of(language)
    heard = terms_in(" ".join(place.said for place in own), language)
    parts = [each.text for each in clauses_of(claim.text)]
    told_parts = [each for each in parts if touches(terms_in(each, language), heard)] or parts
    if all(denies(each, language, told) for each in told_parts):
        return not any(denies(place.said, language, told) for place in own)
    clauses = [each for place in own for each in closest_clauses(claim, place)]
    return bool(clauses) and all(denies(each.text, language, told) for each in clauses)


def is_beside_the_point(claim: Claim, own: list[Place]) -> bool:
    """Whether more of it stands in something else that was said than where it says "I think"."""
    if not shares_language(claim, own):
        return False
    language = detect_language(claim.text, fallback=own[0].message.language)
    told, words = telltales_of(language), terms_in(claim.text, language)
    clauses = [each.text for place in own for each in clauses_of(place.said)]
    counts = [len(words & terms_in(each, language)) for each in clauses]
    thinks = [n for each, n in zip(clauses, counts, strict=True) if n and told.opining.search(each)]
    return bool(thinks) and max(thinks) < max(counts)


def is_put_in(claim: Claim, place: Place, talk: Talk) -> bool:
    """Whether words from elsewhere that speak of the same stand just before."""
    case = Case(claim=claim, places=(place,), talk=talk)
    language = place.message.language
    elsewhere = [each.text for each in around(place, case) if each.trust in PUT_IN]
    return touches(terms_in(f"{claim.text} {claim.key}", language), terms_of(elsewhere, language))


def is_about_a_life(claim: Claim, own: list[Place], talk: Talk) -> bool:
    """Whether it is about the person, or somebody in their life."""
    told = telltales_of(detect_language(claim.text, fallback=talk.language))
    texts = [claim.text, claim.key, *(place.text for place in own)]
    if any(told.hearer.search(folded(each)) for each in texts):
        return True
    if any(spoken_in(place).hearer.search(folded(place.text)) for place in own):
        return True
    own_names = talk.material.person.name.casefold().split()
    if any(name in words_in(text) for name in own_names for text in texts):
        return True
    if any(name in text for name in own_names if is_unspaced(name) for text in texts):
        return True
    known = [each for each in talk.material.entities if each.kind in WITH_A_LIFE]
    named = [each.name for each in talk.named if each.kind in WITH_A_LIFE]
    joined = " ".join(texts)
    return bool(Names(known).named_in(joined)) or any(
        each.casefold() in joined.casefold() for each in named
    )
