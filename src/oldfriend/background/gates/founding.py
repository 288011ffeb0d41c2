"""Do the words tell what is claimed? Its matter and its numbers stand in them, or close by.

A real quote proves nothing of another matter. Told by the words, also of those just before and
after; what is said in another language than the claim is left to whoever has read it.
"""

from collections.abc import Iterable, Iterator
from itertools import filterfalse
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.gates.clauses import terms_in
from oldfriend.background.gates.feeling import is_joyful, is_painful
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.talk import Case, spoken_in
from oldfriend.background.gates.telltales import folded
from oldfriend.background.likeness import without_near
from oldfriend.background.marks import marks_of, numbers_of
from oldfriend.domain.clock import DAY, Micros, from_micros
from oldfriend.domain.ids import MemoryId, ObjectId
from oldfriend.domain.language import detect_language
from oldfriend.domain.memories import MemoryKind
from oldfriend.domain.messages import WIDE, Message
from oldfriend.prompts.phrasebook import SPOKEN

BEFORE, AFTER = 3, 2
"""So many messages around a quote may say what it is about ("I got through it." "Of what?")."""
TELLING: Final = 3
"""Fewer words of matter may all be others for what was said ("Father died", "Dad passed away")."""
ENOUGH: Final = 1 / 3
"""Of what something says, so much at least is spoken of in words that put an end to it."""
LAST_DAY: Final = 31
YEARS: Final = range(1900, 2101)
NOTHING: Final = MemoryId(ObjectId(""))
UNDERSTOOD: Final[frozenset[MemoryKind]] = frozenset({"event", "commitment", "expectation"})
"""What may be told in so few words that only what is known to be coming says what it is."""
COMING: Final[frozenset[MemoryKind]] = frozenset({"commitment", "expectation"})
FOUNDED: Final = frozenset({
    "name", "preferred_name", "location", "occupation", "workplace", "employer",
    "relationship_status", "birthday", "birthplace",
})  # fmt: skip
"""What a whole picture of somebody rests on: no chance word may change it."""
ADDING: Final = frozenset({"reinforces", "fulfils"})
"""Only words are kept of such claims; what they say is known already."""
FEELINGS: Final = (is_painful, is_joyful)
CHANGING: Final = frozenset({"supersedes", "contradicts"})


def matter_fault(case: Case) -> Reason | None:
    """Nothing of what is claimed is spoken of where the quote stands."""
    claim, language = case.claim, language_of(case)
    matter = terms_in(f"{claim.text} {claim.value}", language)
    if len(matter) < TELLING or claim.bearing in ADDING or not is_in(case, language):
        return None
    if claim.kind == "event" and is_felt_alike(case):
        return None
    texts = [message.text for place in case.places for message in around(place, case)]
    if claim.kind in UNDERSTOOD or claim.key in FOUNDED:
        texts += [each.text for each in case.talk.known.values() if each.kind in COMING]
    if claim.kind == "fact" and (target := case.talk.known.get(claim.target or NOTHING)):
        texts.append(target.text)
    return None if touches(matter, terms_of(texts, language)) else "unfounded"


def change_fault(case: Case) -> Reason | None:
    """What would put an end to something speaks of another matter; names alone are no matter.

    One value of a key takes another's place, whatever the words.
    """
    claim, language = case.claim, language_of(case)
    target = None if claim.target is None else case.talk.known.get(claim.target)
    if target is None or claim.bearing not in CHANGING or claim.kind == "fact" or claim.denied:
        return None
    if not is_in(case, language) or target.language != language:
        return None
    written = marks_of(f"{target.text} {claim.text}", language).names
    names = terms_of([*case.talk.names, *claim.names, *written], language)
    was = f"{target.text} {target.value}"
    old = terms_in(case.told.light.sub(" ", was), language) or terms_in(was, language)
    old -= names
    becomes = case.told.changed.sub(" ", f"{claim.text} {claim.value}")
    new = (
        terms_in(case.told.light.sub(" ", becomes), language) or terms_in(becomes, language)
    ) - names
    said = terms_of((each for place in case.places for each in place.sentences()), language)
    if shared(old, said) >= ENOUGH or (touches(old, new) and touches(without_near(new, old), said)):
        return None
    return "another matter" if claim.kind == "pattern" or not touches(new, said) else None


def number_fault(case: Case) -> Reason | None:
    """A number that nobody has said, and that is no part of a date."""
    claim, language = case.claim, language_of(case)
    if claim.bearing in ADDING or not is_in(case, language):
        return None
    words = f"{claim.text} {claim.value}"
    told = set(filter(str.isdecimal, numbers_of(words, language)))
    if any(map(is_of_date, told)) and marks_of(words, language).times:
        told = set(filterfalse(is_of_date, told))
    if not told or told <= numbers_heard(case, language):
        return None
    said = (message.text for place in case.places for message in around(place, case))
    is_doubted = not any(case.told.large_number.search(folded(text)) for text in said)
    return "unfounded" if is_doubted else None


def numbers_heard(case: Case, language: str) -> set[str]:
    """The numbers in the words around the quotes, in what is known, and of the days and hours."""
    near = [message for place in case.places for message in around(place, case)]
    texts = [*(message.text for message in near), *(each.text for each in case.talk.known.values())]
    heard = {number for text in texts for number in numbers_of(text, language)}
    return heard | set(numbers_of_times(case.claim, near))


def overruling_fault(case: Case) -> Reason | None:
    """What is known of somebody's life would change by words that do not say how they live."""
    claim = case.claim
    is_chance = claim.bearing != "reinforces" and not claim.denied
    if claim.kind != "fact" or claim.key not in FOUNDED or not is_chance:
        return None
    has_rival = any(
        each.kind == "fact" and each.key == claim.key and each.subject == claim.subject
        and each.value.casefold() != claim.value.casefold()
        for each in case.talk.known.values()
    )  # fmt: skip
    if not has_rival or any(place.message.language not in SPOKEN for place in case.places):
        return None
    is_stated = any(spoken_in(place).stated.search(folded(place.said)) for place in case.places)
    return None if is_stated else "another matter"


def ending_fault(case: Case) -> Reason | None:
    """What is known would be over by words that tell of nothing past, and of no change."""
    claim = case.claim
    if claim.holds_until is None or claim.holds_until - DAY >= max(
        e.message.at for e in case.places
    ):
        return None
    is_known = any(
        (each.kind, each.key, each.subject) == (claim.kind, claim.key, claim.subject)
        and each.value.casefold() == claim.value.casefold()
        for each in case.talk.known.values()
    )
    if not is_known or any(place.message.language not in SPOKEN for place in case.places):
        return None
    said = [(spoken_in(place), folded(place.said)) for place in case.places]
    tells = any(told.bygone.search(words) or told.changed.search(words) for told, words in said)
    return None if tells else "another matter"


def is_felt_alike(case: Case) -> bool:
    """Whether claim and words both tell of something grave, or both of a joy, in any words."""
    said = " ".join(place.said for place in case.places)
    return any(felt(case.told, case.claim.text) and felt(case.told, said) for felt in FEELINGS)


def language_of(case: Case) -> str:
    """The language in which a claim is written."""
    return detect_language(case.claim.text, fallback=case.talk.language)


def is_in(case: Case, language: str) -> bool:
    """Whether a claim and all the words that it rests on are in a language, and one we speak."""
    said = [(place.message.text, place.message.language) for place in case.places]
    is_written_so = bool(WIDE.search(case.claim.text)) == (language == "zh")
    is_said_so = all(detect_language(text, fallback=usual) == language for text, usual in said)
    return language in SPOKEN and is_written_so and is_said_so


def around(place: Place, case: Case) -> tuple[Message, ...]:
    """The message that is quoted, and those just before and after it."""
    talk, message = case.talk, place.message
    return (*talk.before(message)[-BEFORE:], message, *talk.after(message)[:AFTER])


def terms_of(texts: Iterable[str], language: str) -> frozenset[str]:
    """The words of matter in texts."""
    return frozenset[str]().union(*(terms_in(text, language) for text in texts))


def touches(ours: Iterable[str], theirs: frozenset[str]) -> bool:
    """Whether one of some words, or another form of it, is among others."""
    ours = list(ours)
    return not theirs.isdisjoint(ours) or len(without_near(ours, theirs)) < len(ours)


def shared(ours: frozenset[str], theirs: frozenset[str]) -> float:
    """How large a part of some words is among others."""
    return 1 - len(without_near(ours, theirs)) / len(ours) if ours else 0.0


def numbers_of_times(claim: Claim, near: Iterable[Message]) -> Iterator[str]:
    """The numbers of the days and hours of which a claim or the talk around it is."""
    zones = [message.zone for message in near]
    own: list[Micros | None] = [
        claim.due_at, claim.happened_at, claim.happened_until, claim.holds_from, claim.holds_until,
    ]  # fmt: skip
    for moment in (*own, *(message.at for message in near)):
        if moment is not None:
            local = from_micros(moment, zones[0])
            numbers = (local.year, local.month, local.day, local.hour, local.hour % 12)
            yield from (str(number) for number in (*numbers, local.minute))


def is_of_date(number: str) -> bool:
    """Whether a number may be the day or the year of a date."""
    return int(number) <= LAST_DAY or int(number) in YEARS
