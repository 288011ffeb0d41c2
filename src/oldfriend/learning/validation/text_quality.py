"""Text quality: checks a claim's length, names and subject, and that it can stand alone.

A single measurement or event is no pattern; words that only the conversation explains do not stand
alone. Judged by the claim's own words and, for single events, by its quotes.
"""

import re
from typing import Final

from oldfriend.domain.belief_kinds import KINDS_BY_NAME
from oldfriend.domain.memories import PatternKind
from oldfriend.domain.messages import WIDE_CHARS
from oldfriend.learning.validation.cue_words import CueWords, fold_characters
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.learning.validation.segment_view import ValidationCase, get_span_cue_words
from oldfriend.learning.validation.speech_acts import (
    find_closest_sentences,
    find_matching_sentences,
)
from oldfriend.turn.attribution.cues import fold_punctuation, load_cues_for

STRONG_IMPACT: Final = 7
MIN_LENGTH, MIN_WIDE_LENGTH = 4, 3
"""Events of this impact, good or bad, may have very short texts: "Rex died."."""

MIN_IMPLICIT_CONFIDENCE: Final = 0.6
"""Minimum confidence of a claim that was not said outright."""

REPEATED_RUN: Final = re.compile(r"(\S)\1{7}|(\S{2,20}?)(?:[\s,]*\2){4}")
"""One character eight times, or one piece five times."""

DATA: Final = re.compile(
    r"""
    \A\s*(?:```|\||<[\w/!]|\[\s*["{\[])               # "| a | b |", "<summary>", '["…'
    | \A\s*(?:[{\[]|[\w-]+"?\s*:\s*[{\[])[^"]*"[^"]*"\s*:   # '{"text": …'
    | \A\s*[\w-]+"\s*:                              # 'kind": "fact"'
    """,
    re.VERBOSE,
)
"""Text that a program reads, where sentences were asked for."""

QUOTED_TEXT: Final = re.compile('["“„«「『][^"”“„«»「」『』]*["”“»」』]')
NAME: Final = re.compile(r"(?<=[^.!?\s]\s)[^\W\d_a-zà-ÿ]\w+")
"""A capitalized word within a sentence."""

POSSESSIVE: Final = re.compile(
    r"his|her|their|su|sus|sein\w{0,2}|ihr\w{0,2}|son|sa|ses|leurs?|seus?|suas?", re.IGNORECASE
)
"""Possessives at the start of a claim that refer to the person."""

HABIT_PATTERNS: Final[frozenset[PatternKind]] = frozenset(
    {"behavior", "temporal", "causal", "emotion"}
)
"""Patterns of actions or feelings, for which one occurrence is not enough."""

LASTING_KEYS: Final = frozenset(
    {
        "name",
        "preferred_name",
        "pronouns",
        "birthday",
        "timezone",
        "location",
        "occupation",
        "workplace",
        "employer",
        "relationship_status",
        "family",
        "interests",
        "communication_style",
        "technical_level",
        "autonomy_preference",
        "birthplace",
        "hometown",
        "nationality",
        "studies",
        "education",
        "partner",
        "spouse",
        "children",
        "siblings",
        "parents",
        "pets",
        "pet",
        "languages",
        "allergies",
        "diet",
        "religion",
        "health",
        "height",
        "age",
    }
)
"""Keys of facts that last, however they were stated."""


def is_prose(text: str) -> bool:
    """Tell whether a text is sentences: not data, nor mostly one piece again and again."""
    repeated = sum(len(each.group()) for each in REPEATED_RUN.finditer(text.casefold()))
    return (
        any(character.isalpha() for character in text)
        and DATA.search(text) is None
        and 2 * repeated <= len(text)
    )


def check_length(case: ValidationCase) -> RejectionReason | None:
    """Reject a text that is too short, too long or repetitive."""
    claim, text = case.claim, case.claim.text
    is_wide = 2 * len(WIDE_CHARS.findall(text)) > len(text)
    kind = KINDS_BY_NAME[claim.kind]
    shortest, longest = kind.wide_length if is_wide else kind.length
    if claim.kind == "event" and abs(claim.impact) >= STRONG_IMPACT:
        shortest = min(shortest, MIN_WIDE_LENGTH if is_wide else MIN_LENGTH)
    if len(text) < shortest or not any(character.isalpha() for character in text):
        return "too short"
    if len(text) > longest:
        return "too long"
    return "repeats itself" if REPEATED_RUN.search(text.casefold()) else None


def check_pronouns(case: ValidationCase) -> RejectionReason | None:
    """Reject pronouns and vague references that only the conversation explains."""
    if KINDS_BY_NAME[case.claim.kind].is_lasting and case.cue_words.indefinite.search(
        case.claim.text
    ):
        return "pronoun"
    cue_words, text = case.cue_words, QUOTED_TEXT.sub(" ", fold_characters(case.claim.text))
    if cue_words.speaker.search(text) or cue_words.addressee.search(text):
        return "pronoun"
    if (found := cue_words.leading_pronoun.search(text)) and not is_speakers_own(
        found.group(), case
    ):
        return "pronoun"
    found = cue_words.pronoun.search(text)
    if found is None or has_antecedent(text[: found.start()], case, cue_words):
        return None
    return "pronoun"


def is_speakers_own(word: str, case: ValidationCase) -> bool:
    """Return whether a claim begins with a possessive that refers to its speaker."""
    if case.claim.subject != "person" or not POSSESSIVE.fullmatch(word.strip()):
        return False
    return all(
        load_cues_for(span.sentence_text, span.message.language)[0].self.search(
            fold_punctuation(span.sentence_text)
        )
        for span in case.spans
    )


def has_antecedent(before: str, case: ValidationCase, cue_words: CueWords) -> bool:
    """Return whether a name or a word for a person precedes a pronoun."""
    names = {*case.view.names, *(name.casefold() for name in case.claim.names)}
    if any(name and name in before.casefold() for name in names):
        return True
    return bool(cue_words.relation_noun.search(before) or NAME.search(before))


def check_measurement(case: ValidationCase) -> RejectionReason | None:
    """Reject a number with a unit that is not said to be usual."""
    claim = case.claim
    if claim.effect == "reinforces" or not KINDS_BY_NAME[claim.kind].must_be_usual:
        return None
    if not case.cue_words.measurement.search(fold_characters(f"{claim.text} {claim.value}")):
        return None
    measured = [
        (cue_words, each)
        for cue_words, each in list_all_sentences(case)
        if cue_words.measurement.search(each)
    ]
    is_habit = any(
        cue_words.habitual.search(each)
        for cue_words, each in measured or list_supporting_sentences(case)
    )
    return None if is_habit else "measurement"


def check_single_occurrence(case: ValidationCase) -> RejectionReason | None:
    """Reject a habit seen once, and a fact about today only, unless it changed today."""
    claim, cue_words, text = case.claim, case.cue_words, fold_characters(case.claim.text)
    if claim.effect == "reinforces" or is_usual(case):
        return None
    if claim.kind == "pattern":
        is_done = claim.pattern in HABIT_PATTERNS and is_single_event(case)
        return "happened once" if is_done or cue_words.single_event.search(text) else None
    is_lasting = claim.key in LASTING_KEYS or claim.holds_from is not None or has_changed(case)
    if claim.kind != "fact" or claim.subject != "person" or is_lasting:
        return None
    is_once = cue_words.single_event.search(text) or (
        is_single_event(case) and is_closest_single(case)
    )
    return "happened once" if is_once else None


def is_closest_single(case: ValidationCase) -> bool:
    """Return whether what tells most of a claim reports one occurrence, and not words beside it.

    "Choir tonight. I sing alto." says that they sing alto.
    """
    return all(
        get_span_cue_words(span).single_event.search(
            fold_characters(" ".join(find_closest_sentences(case.claim, span)))
        )
        for span in case.spans
    )


def is_single_event(case: ValidationCase) -> bool:
    """Return whether everything that a claim rests on reports one occurrence."""
    return all(
        cue_words.single_event.search(sentence)
        and not (
            cue_words.change_of_state.search(sentence) and not cue_words.relapse.search(message)
        )
        for (cue_words, sentence), message in zip(
            list_supporting_sentences(case), list_supporting_messages(case), strict=True
        )
    )


def has_changed(case: ValidationCase) -> bool:
    """Return whether the words say that something is different from then on."""
    return any(
        cue_words.change_of_state.search(sentence)
        for cue_words, sentence in list_supporting_sentences(case)
    )


def is_usual(case: ValidationCase) -> bool:
    """Return whether the sentences closest to a claim say that it is usual."""
    return any(
        get_span_cue_words(span).habitual.search(
            fold_characters(" ".join(find_closest_sentences(case.claim, span)))
        )
        for span in case.spans
    )


def list_supporting_sentences(case: ValidationCase) -> list[tuple[CueWords, str]]:
    """Return the matching sentences of each quote, with the cue words of their language."""
    return [
        (
            get_span_cue_words(span),
            fold_characters(" ".join(find_matching_sentences(case.claim, span))),
        )
        for span in case.spans
    ]


def list_supporting_messages(case: ValidationCase) -> list[str]:
    """Return the folded messages that a claim rests on."""
    return [fold_characters(span.message.text) for span in case.spans]


def list_all_sentences(case: ValidationCase) -> list[tuple[CueWords, str]]:
    """Return every sentence around the quotes, with the cue words of its language."""
    return [
        (get_span_cue_words(span), fold_characters(each))
        for span in case.spans
        for each in span.iter_sentences()
    ]


def check_confidence(case: ValidationCase) -> RejectionReason | None:
    """Reject a claim that was not said outright and has low confidence."""
    claim = case.claim
    is_weak = claim.signal == "implicit" and claim.confidence < MIN_IMPLICIT_CONFIDENCE
    return "weak sign" if is_weak else None
