"""Cue words: loads each language's words for non-assertions and for sentiment.

What follows from a word is not decided here.
"""

import re
from dataclasses import dataclass, fields
from functools import cache

from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.lang.language_pack import (
    choose_language_with,
    list_languages,
    load_language_pack,
)
from oldfriend.turn.injection_detection import strip_hidden_characters
from oldfriend.turn.intent import PUNCTUATION_FOLDING


@dataclass(frozen=True, slots=True, kw_only=True)
class CueWords:
    """Cue words of one language; ``evidence_cues.toml`` of English says what each list is for."""

    assertive_question: re.Pattern[str]
    exclamation: re.Pattern[str]
    hypothetical: re.Pattern[str]
    wish: re.Pattern[str]
    single_event: re.Pattern[str]
    change_of_state: re.Pattern[str]
    reported_speech: re.Pattern[str]
    other_subject: re.Pattern[str]
    ironic: re.Pattern[str]
    hyperbole: re.Pattern[str]
    praise: re.Pattern[str]
    mishap: re.Pattern[str]
    lasting_state: re.Pattern[str]
    large_number: re.Pattern[str]
    possessive_start: re.Pattern[str]
    habitual: re.Pattern[str]
    measurement: re.Pattern[str]
    person_prefix: re.Pattern[str]
    speaker: re.Pattern[str]
    addressee: re.Pattern[str]
    leading_pronoun: re.Pattern[str]
    pronoun: re.Pattern[str]
    relation_noun: re.Pattern[str]
    suggestion: re.Pattern[str]
    refusal: re.Pattern[str]
    reminder_request: re.Pattern[str]
    promise: re.Pattern[str]
    named_time: re.Pattern[str]
    source_prefix: re.Pattern[str]
    grief: re.Pattern[str]
    joy: re.Pattern[str]
    hurt: re.Pattern[str]
    not_emotional: re.Pattern[str]
    strong_feeling: re.Pattern[str]
    secret: re.Pattern[str]
    secret_noun: re.Pattern[str]
    instruction: re.Pattern[str]
    memory_instruction: re.Pattern[str]
    forwarded: re.Pattern[str]
    condition: re.Pattern[str]
    consequence: re.Pattern[str]
    hedge: re.Pattern[str]
    rejection: re.Pattern[str]
    negation: re.Pattern[str]
    distinction: re.Pattern[str]
    past_occasion: re.Pattern[str]
    relapse: re.Pattern[str]
    indefinite: re.Pattern[str]
    unit: re.Pattern[str]
    about_money: re.Pattern[str]
    background_clause: re.Pattern[str]
    grave_event: re.Pattern[str]
    laughter: re.Pattern[str]
    comparison: re.Pattern[str]
    low_content_word: re.Pattern[str]
    conditional: re.Pattern[str]
    ownership: re.Pattern[str]
    judgement_statement: re.Pattern[str]
    assent: frozenset[str]


def get_cue_words(language: str) -> CueWords:
    """Return the cue words of a language; English ones, which find little, if it has none."""
    return _load_cue_words(choose_language_with("evidence_cues", language))


def list_all_cue_words() -> tuple[CueWords, ...]:
    """Return the cue words of all languages, for checks that must not be evaded in another one."""
    return tuple(map(_load_cue_words, list_languages("evidence_cues")))


def fold_characters(text: str) -> str:
    """Normalize a text for comparison: visible characters, one width, simplified Chinese."""
    visible = strip_hidden_characters(text).translate(PUNCTUATION_FOLDING)
    return to_simplified(visible)


@cache
def _load_cue_words(language: str) -> CueWords:
    lists: dict[str, list[str] | str] = load_language_pack(language).read("evidence_cues")
    patterns = {
        name: re.compile(source if isinstance(source, str) else "|".join(source), re.IGNORECASE)
        for name, source in lists.items()
        if name != "assent"
    }
    return CueWords(**patterns, assent=frozenset(lists["assent"]))


LIST_NAMES = tuple(field.name for field in fields(CueWords))
"""The lists that each file must contain."""
