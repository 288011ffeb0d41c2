"""Do the words tell what is claimed? Its matter and its numbers stand in them, or close by.

A real quote proves nothing of another matter. Told by the words, also of those just before and
after; what is said in another language than the claim is left to whoever has read it.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.saying import answered, closest_sentences, terms_in
from oldfriend.background.gates.talk import Case, spoken_in
from oldfriend.background.gates.telltales import folded
from oldfriend.background.likeness import without_near
from oldfriend.background.marks import marks_of
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.language import detect_language
from oldfriend.domain.memories import MemoryKind
from oldfriend.domain.messages import WIDE, Message
from oldfriend.prompts.phrasebook import SPOKEN

BEFORE, AFTER = 3, 2
"""So many messages around a quote may say what it is about ("I got through it." "Of what?")."""
TELLING: Final = 3
"""Fewer words of matter may all be others for what was said ("Father died", "Dad passed away")."""
LAST_DAY: Final = 31
YEARS: Final = range(1900, 2101)
UNDERSTOOD: Final[frozenset[MemoryKind]] = frozenset({"event", "commitment", "expectation"})
"""What may be told in so few words that only what is known to be coming says what it is."""
COMING: Final[frozenset[MemoryKind]] = frozenset({"commitment", "expectation"})
CHANGING: Final = frozenset({"supersedes", "contradicts"})


def matter_fault(case: Case) -> Reason | None:
    """Nothing of what is claimed is spoken of where the quote stands."""
    claim, language = case.claim, language_of(case)
    matter = terms_in(f"{claim.text} {claim.value}", language)
    if len(matter) < TELLING or claim.bearing in {"reinforces", "fulfils"} or not is_in(case, language):
        return None
    texts = [message.text for place in case.places for message in around(place, case)]
    if claim.kind in UNDERSTOOD:
        texts += [each.text for each in case.talk.known.values() if each.kind in COMING]
    return None if touches(matter, terms_of(texts, language)) else "unfounded"


def change_fault(case: Case) -> Reason | None:
    """What would put an end to something speaks of another matter; names alone are no matter.

    One value of a key takes another's place, whatever the words.
    """
    claim, language = case.claim, language_of(case)
    target = None if claim.target is None else case.talk.known.get(claim.target)
    if target is None or claim.bearing not in CHANGING or claim.kind == "fact":
        return None
    if not is_in(case, language) or target.language != language:
        return None
    names = terms_of([*case.talk.names, *claim.names], language)
    old = terms_in(f"{target.text} {target.value}", language) - names
    new = terms_in(f"{claim.text} {claim.value}", language) - names
    said = terms_of((each for place in case.places for each in place.sentences()), language)
    if touches(old, said) or (touches(old, new) and touches(without_near(new, old), said)):
        return None
    return "another matter" if claim.kind == "pattern" or not touches(new, said) else None


def number_fault(case: Case) -> Reason | None:
    """A number that nobody has said, and that is no part of a date."""
    claim, language = case.claim, language_of(case)
    if claim.bearing in {"reinforces", "fulfils"} or not is_in(case, language):
        return None
    near = [message for place in case.places for message in around(place, case)]
    said = [message.text for message in near]
    if any(case.told.large_number.search(folded(text)) for text in said):
        return None
    marks = marks_of(f"{claim.text} {claim.value}", language)
    known = (each.text for each in case.talk.known.values())
    heard = {number for text in (*said, *known) for number in marks_of(text, language).numbers}
    heard |= set(numbers_of_times(claim, near))
    invented = {
        each
        for each in marks.numbers - heard
        if each.isdecimal() and not (marks.times and is_of_date(each))
    }
    return "unfounded" if invented else None


def liking_fault(case: Case) -> Reason | None:
    """A preference of which the words do not say that somebody likes, needs or avoids something."""
    claim = case.claim
    if claim.kind != "preference" or claim.bearing != "new":
        return None
    for place in case.places:
        told = spoken_in(place)
        before = answered(place, case.talk)
        said = [place.said, *([] if before is None else [before.text])]
        if place.message.language not in SPOKEN or any(
            told.preferring.search(folded(each)) or told.usual.search(folded(each))
            for each in said
        ):
            return None
    return "no liking"


def irony_fault(case: Case) -> Reason | None:
    """Said in jest, by the speaker's own account; what has happened has happened all the same."""
    if case.claim.kind == "event":
        return None
    is_meant = any(not spoken_in(place).ironic.search(folded(place.said)) for place in case.places)
    return None if is_meant else "in jest"


def refusal_fault(case: Case) -> Reason | None:
    """A promise of the person in words that refuse it."""
    claim = case.claim
    if claim.kind != "commitment" or claim.subject == "companion":
        return None
    said = [(spoken_in(place), closest_sentences(claim, place)) for place in case.places]
    is_refused = all(told.refused.search(folded(each[0])) for told, each in said)
    return "promise refused" if is_refused else None


def language_of(case: Case) -> str:
    """The language in which a claim is written."""
    return detect_language(case.claim.text, fallback=case.talk.language)


def is_in(case: Case, language: str) -> bool:
    """Whether a claim and all the words that it rests on are in a language, and one we speak."""
    is_written_so = bool(WIDE.search(case.claim.text)) == (language == "zh")
    return language in SPOKEN and is_written_so and all(
        detect_language(place.message.text, fallback=place.message.language) == language
        for place in case.places
    )


def around(place: Place, case: Case) -> tuple[Message, ...]:
    """The message that is quoted, and those just before and after it."""
    talk, message = case.talk, place.message
    return (*talk.before(message)[-BEFORE:], message, *talk.after(message)[:AFTER])


def terms_of(texts: Iterable[str], language: str) -> frozenset[str]:
    """The words of matter in texts."""
    return terms_in(" ".join(texts), language)


def touches(ours: Iterable[str], theirs: frozenset[str]) -> bool:
    """Whether one of some words, or another form of it, is among others."""
    ours = list(ours)
    return len(without_near(ours, theirs)) < len(ours)


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
