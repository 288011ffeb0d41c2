"""Does the companion think so? In its own words, of a topic; of somebody's life only when asked.

The one thing beside its promises that its words are evidence of. Nobody else puts it there: an
opinion that comes out of forwarded words is not its own; only that it changed its mind needs the
person's words, too. Whoever asks it what to do must not be told one thing today and another
tomorrow, so what it answers then counts; what somebody is like never does.
"""

from collections.abc import Iterable
from itertools import dropwhile, takewhile
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.gates.bearing import says_what_somebody_is
from oldfriend.background.gates.clauses import clauses_of, closest_clauses, terms_in
from oldfriend.background.gates.founding import around, shared, terms_of, touches
from oldfriend.background.gates.modality import denies
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.saying import asks
from oldfriend.background.gates.talk import Case, Talk, spoken_in
from oldfriend.background.gates.telltales import folded, telltales_of
from oldfriend.background.gates.tone import is_label
from oldfriend.background.marks import marks_of
from oldfriend.domain.language import detect_language
from oldfriend.domain.memories import EntityKind
from oldfriend.domain.messages import Message
from oldfriend.domain.trust import TrustClass
from oldfriend.memory.search.names import Names
from oldfriend.memory.search.words import is_unspaced, stem_of, words_in

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
    asked = asked_in(own, talk)
    if not is_topic(claim.key) or not is_told(claim, own, asked, talk) or is_turned(claim, own):
        return "unfounded"
    if is_beside_the_point(claim, own):
        return "unfounded"
    is_its_to_say = not is_about_a_life(claim, own, talk) or (
        is_asked_about(claim, own, asked, talk) and is_view_of_its_own(claim, own)
    )
    return None if is_its_to_say else "about another"


def is_topic(key: str) -> bool:
    """Whether it is about something, in a few words."""
    return any(character.isalpha() for character in key) and len(key) <= LONGEST_TOPIC


def asked_in(own: list[Place], talk: Talk) -> tuple[Message, ...]:
    """What the person said just before, where they asked something."""
    return tuple(
        message for place in own for message in said_before(place, talk)
        if asks(message.text, telltales_of(message.language), message.language)
    )  # fmt: skip


def said_before(place: Place, talk: Talk) -> Iterable[Message]:
    """The person's messages that it answers."""
    before = reversed(talk.before(place.message))
    before = dropwhile(lambda each: each.trust == "companion", before)
    return takewhile(lambda each: each.trust == "person", before)


def is_asked_about(claim: Claim, own: list[Place], asked: tuple[Message, ...], talk: Talk) -> bool:
    """Whether it was asked something, in words that speak of what it thinks about.

    What was told along with the question counts, too; names do where they are the topic. Of a
    word of the topic ("telling") another form may be one that mostly carries no matter ("tell").
    """
    if not asked or not shares_language(claim, own):
        return bool(asked)
    language = detect_language(claim.text, fallback=own[0].message.language)
    told, topic = telltales_of(language), terms_in(folded(claim.key), language)
    said = [folded(each.text) for place in own for each in said_before(place, talk)]
    heard = terms_of(said, language) | topic & stems_of(said, language)
    opened = (found[0] for p in own for found in told.opining.finditer(folded(p.said)))
    thought = terms_in(told.light.sub(" ", folded(claim.text)), language)
    matter = topic | thought - called_in(claim, own, talk, language)
    return touches(matter - terms_of(opened, language), heard)


def stems_of(texts: Iterable[str], language: str) -> frozenset[str]:
    """The stems of all words in texts, also of those that carry no matter."""
    return frozenset(stem_of(word, language) for text in texts for word in words_in(text))


def is_view_of_its_own(claim: Claim, own: list[Place]) -> bool:
    """Whether it says that it thinks so, and says of nobody what they are like."""
    if not any(spoken_in(place).opining.search(folded(place.text)) for place in own):
        return False
    language = detect_language(claim.text, fallback=own[0].message.language)
    if telltales_of(language).hearer.search(folded(claim.text)):
        return False  # a belief stands alone: nobody is spoken to in it
    return not is_label(claim.text) and not says_what_somebody_is(claim.text, language=language)


def is_told(claim: Claim, own: list[Place], asked: tuple[Message, ...], talk: Talk) -> bool:
    """Whether what is claimed stands in the words, where both are in one language.

    What it was asked may say what its answer is about, but not what it answers; nor do names.
    """
    if not shares_language(claim, own):
        return True
    language = detect_language(claim.text, fallback=own[0].message.language)
    heard = terms_in(" ".join(place.said for place in own), language)
    spoken_of = heard | terms_in(" ".join(each.text for each in asked), language)
    topic, names = terms_in(claim.key, language), called_in(claim, own, talk, language)
    thought = terms_in(claim.text, language)
    is_named = touches(topic, spoken_of) and touches(thought - topic - names, heard)
    return is_named or shared(thought - names, heard) >= TOLD


def called_in(claim: Claim, own: list[Place], talk: Talk, language: str) -> frozenset[str]:
    """All names that are known, or stand in the claim or in the words."""
    texts = [claim.text, *(place.said for place in own)]
    written = (name for text in texts for name in marks_of(text, language).names)
    return terms_of([talk.material.person.name, *talk.names, *claim.names, *written], language)


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
    """Whether more of it stands in something else that was said than where it says "I think".

    Where as much does, it speaks first of what the view is of: "I'm for cats: a dog asks about
    your day" is said of both, and for one of them.
    """
    if not shares_language(claim, own):
        return False
    language = detect_language(claim.text, fallback=own[0].message.language)
    told, words = telltales_of(language), terms_in(claim.text, language)
    clauses = [each.text for place in own for each in clauses_of(place.said)]
    matters = [words & terms_in(told.opining.sub(" ", each), language) for each in clauses]
    views = [said for each, said in zip(clauses, matters, strict=True) if told.opining.search(each)]
    view, most = max(views, key=len, default=frozenset()), max(map(len, matters), default=0)
    if not view or len(view) < most:
        return bool(view)
    rivals = frozenset().union(*(each for each in matters if len(each) == most)) - view
    return first_of(view | rivals, claim.text, language) in rivals


def first_of(terms: frozenset[str], text: str, language: str) -> str | None:
    """Which of some stems a text says first."""
    said = (term for word in words_in(text) for term in terms_in(word, language))
    return next((term for term in said if term in terms), None)


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
