"""Is a claim written so that it can be kept? Its length, its names, and what it is about.

What was measured or happened once is no pattern; words that only the talk explains do not stand
alone. By the claim's own words and, for what happened once, by the words it rests on.
"""

import re
from typing import Final

from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.saying import closest_sentences, sentences_for
from oldfriend.background.gates.talk import Case, spoken_in
from oldfriend.background.gates.telltales import Telltales, folded
from oldfriend.domain.memories import MemoryKind, PatternKind
from oldfriend.domain.messages import WIDE

Length = tuple[int, int]

LENGTHS: Final[dict[MemoryKind, Length]] = {"pattern": (10, 200), "event": (10, 500)}
USUAL_LENGTH: Final[Length] = (4, 300)
WIDE_LENGTHS: Final[dict[MemoryKind, Length]] = {"pattern": (4, 120), "event": (4, 300)}
USUAL_WIDE_LENGTH: Final[Length] = (3, 180)
"""Fewest and most characters; of scripts whose characters are words, fewer (ACCEPTANCE G22)."""

MIGHTY: Final = 7
"""What moved somebody so much, either way, is an event in however few words: "Rex died."."""

LEAST_IMPLICIT: Final = 0.6
"""How sure one has to be of what was not said outright (ACCEPTANCE G22)."""

RUN: Final = re.compile(r"(\S)\1{7}|(\S{2,20}?)(?:[\s,]*\2){4}")
"""One sign eight times, or one piece five times."""

QUOTED: Final = re.compile('["“„«「『][^"”“»」』]*["”“»」』]')
NAME: Final = re.compile(r"(?<=[^.!?\s]\s)[^\W\d_a-zà-ÿ]\w+")
"""A capital letter within a sentence."""

SEEN_ONCE: Final[frozenset[PatternKind]] = frozenset({"behavior", "temporal", "causal", "emotion"})
"""Patterns of what is done or felt: once is not yet a pattern."""

LASTING: Final = frozenset({
    "name", "preferred_name", "pronouns", "birthday", "timezone", "location", "occupation",
    "workplace", "employer", "relationship_status", "family", "interests",
    "communication_style", "technical_level", "autonomy_preference", "birthplace", "hometown",
    "nationality", "studies", "education", "partner", "spouse", "children", "siblings",
    "parents", "pets", "pet", "languages", "allergies", "diet", "religion", "health", "height",
})  # fmt: skip
"""Keys of facts that last, however they were told."""


def length_fault(case: Case) -> Reason | None:
    """Nearly nothing, without end, or the same again and again."""
    claim, text = case.claim, case.claim.text
    is_wide = 2 * len(WIDE.findall(text)) > len(text)
    lengths, usual = (WIDE_LENGTHS, USUAL_WIDE_LENGTH) if is_wide else (LENGTHS, USUAL_LENGTH)
    fewest, most = lengths.get(claim.kind, usual)
    if claim.kind == "event" and abs(claim.impact) >= MIGHTY:
        fewest = min(fewest, usual[0])
    if len(text) < fewest or not any(character.isalpha() for character in text):
        return "too short"
    if len(text) > most:
        return "too long"
    return "repeats itself" if RUN.search(text.casefold()) else None


def pronoun_fault(case: Case) -> Reason | None:
    """Says "she" or "you" or "one of them" of somebody whom only the talk would tell."""
    if case.claim.kind in {"fact", "pattern"} and case.told.indefinite.search(case.claim.text):
        return "pronoun"
    told, text = case.told, QUOTED.sub(" ", folded(case.claim.text))
    if any(each.search(text) for each in (told.speaker, told.hearer, told.leading_pronoun)):
        return "pronoun"
    found = told.pronoun.search(text)
    if found is None or tells_whom(text[: found.start()], case, told):
        return None
    return "pronoun"


def tells_whom(before: str, case: Case, told: Telltales) -> bool:
    """Whether somebody is named, or called by what they are, before a pronoun."""
    names = {*case.talk.names, *(name.casefold() for name in case.claim.names)}
    if any(name and name in before.casefold() for name in names):
        return True
    return bool(told.whom.search(before) or NAME.search(before))


def measurement_fault(case: Case) -> Reason | None:
    """A number of kilos or kilometres that is not said to be usual."""
    claim = case.claim
    if claim.bearing == "reinforces" or claim.kind not in {
        "fact",
        "pattern",
        "preference",
    }:
        return None
    if not case.told.measured.search(folded(f"{claim.text} {claim.value}")):
        return None
    numbers = [(told, each) for told, each in all_sentences(case) if told.measured.search(each)]
    is_habit = any(told.usual.search(each) for told, each in numbers or rests(case))
    return None if is_habit else "measurement"


def once_fault(case: Case) -> Reason | None:
    """One time is not a habit; what is so today is not a fact, unless it has changed today."""
    claim, told, text = case.claim, case.told, folded(case.claim.text)
    if claim.bearing == "reinforces" or is_usual(case):
        return None
    if claim.kind == "pattern":
        is_done = claim.pattern in SEEN_ONCE and happened_once(case)
        return "happened once" if is_done or told.once.search(text) else None
    lasts = claim.key in LASTING or claim.holds_from is not None or has_changed(case)
    if claim.kind != "fact" or claim.subject != "person" or lasts:
        return None
    return "happened once" if told.once.search(text) or happened_once(case) else None


def happened_once(case: Case) -> bool:
    """Whether all that a claim rests on tells of one time."""
    return all(
        told.once.search(said)
        and not (told.changed.search(said) and not told.relapse.search(whole))
        for (told, said), whole in zip(rests(case), wholes(case), strict=True)
    )


def has_changed(case: Case) -> bool:
    """Whether the words tell that something is otherwise from then on."""
    return any(told.changed.search(said) for told, said in rests(case))


def is_usual(case: Case) -> bool:
    """Whether the words that are closest to a claim tell that it keeps being so."""
    return any(
        spoken_in(place).usual.search(folded(" ".join(closest_sentences(case.claim, place))))
        for place in case.places
    )


def rests(case: Case) -> list[tuple[Telltales, str]]:
    """The sentences that a claim rests on, with the words that tell of their language."""
    return [
        (spoken_in(place), folded(" ".join(sentences_for(case.claim, place))))
        for place in case.places
    ]


def wholes(case: Case) -> list[str]:
    """The messages that a claim rests on."""
    return [folded(place.message.text) for place in case.places]


def all_sentences(case: Case) -> list[tuple[Telltales, str]]:
    """The same, each sentence around a quote by itself."""
    return [(spoken_in(place), folded(each)) for place in case.places for each in place.sentences()]


def weakness_fault(case: Case) -> Reason | None:
    """Not said outright, and not likely either."""
    claim = case.claim
    is_weak = claim.signal == "implicit" and claim.confidence < LEAST_IMPLICIT
    return "weak sign" if is_weak else None
