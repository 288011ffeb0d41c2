"""Cue words: loads each language's words for non-assertions and for sentiment.

What follows from a word is not decided here.
"""

import re
from dataclasses import dataclass, fields
from functools import cache

from oldfriend.domain.lazy_patterns import LazyPattern
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

    assertive_question: LazyPattern
    exclamation: LazyPattern
    hypothetical: LazyPattern
    wish: LazyPattern
    single_event: LazyPattern
    change_of_state: LazyPattern
    reported_speech: LazyPattern
    other_subject: LazyPattern
    ironic: LazyPattern
    hyperbole: LazyPattern
    praise: LazyPattern
    mishap: LazyPattern
    lasting_state: LazyPattern
    large_number: LazyPattern
    possessive_start: LazyPattern
    habitual: LazyPattern
    measurement: LazyPattern
    person_prefix: LazyPattern
    speaker: LazyPattern
    addressee: LazyPattern
    leading_pronoun: LazyPattern
    pronoun: LazyPattern
    relation_noun: LazyPattern
    suggestion: LazyPattern
    refusal: LazyPattern
    reminder_request: LazyPattern
    promise: LazyPattern
    named_time: LazyPattern
    source_prefix: LazyPattern
    grief: LazyPattern
    joy: LazyPattern
    hurt: LazyPattern
    not_emotional: LazyPattern
    strong_feeling: LazyPattern
    secret: LazyPattern
    secret_noun: LazyPattern
    instruction: LazyPattern
    memory_instruction: LazyPattern
    forwarded: LazyPattern
    condition: LazyPattern
    consequence: LazyPattern
    hedge: LazyPattern
    rejection: LazyPattern
    negation: LazyPattern
    distinction: LazyPattern
    past_occasion: LazyPattern
    relapse: LazyPattern
    indefinite: LazyPattern
    unit: LazyPattern
    about_money: LazyPattern
    background_clause: LazyPattern
    grave_event: LazyPattern
    laughter: LazyPattern
    comparison: LazyPattern
    low_content_word: LazyPattern
    conditional: LazyPattern
    ownership: LazyPattern
    judgement_statement: LazyPattern
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
        name: LazyPattern(
            source if isinstance(source, str) else "|".join(source), str, re.IGNORECASE
        )
        for name, source in lists.items()
        if name != "assent"
    }
    return CueWords(**patterns, assent=frozenset(lists["assent"]))


LIST_NAMES = tuple(field.name for field in fields(CueWords))
"""The lists that each file must contain."""
