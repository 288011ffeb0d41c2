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

    telling_question: re.Pattern[str]
    exclaimed: re.Pattern[str]
    imagined: re.Pattern[str]
    wished: re.Pattern[str]
    once: re.Pattern[str]
    changed: re.Pattern[str]
    reported: re.Pattern[str]
    of_others: re.Pattern[str]
    ironic: re.Pattern[str]
    hyperbole: re.Pattern[str]
    praise: re.Pattern[str]
    mishap: re.Pattern[str]
    stated: re.Pattern[str]
    large_number: re.Pattern[str]
    of_mine: re.Pattern[str]
    usual: re.Pattern[str]
    measured: re.Pattern[str]
    the_person: re.Pattern[str]
    speaker: re.Pattern[str]
    hearer: re.Pattern[str]
    leading_pronoun: re.Pattern[str]
    pronoun: re.Pattern[str]
    whom: re.Pattern[str]
    suggestion: re.Pattern[str]
    refused: re.Pattern[str]
    reminding: re.Pattern[str]
    promise: re.Pattern[str]
    named_time: re.Pattern[str]
    read_in: re.Pattern[str]
    grief: re.Pattern[str]
    joy: re.Pattern[str]
    hurt: re.Pattern[str]
    not_felt: re.Pattern[str]
    strong: re.Pattern[str]
    secret: re.Pattern[str]
    secret_noun: re.Pattern[str]
    order: re.Pattern[str]
    addressed: re.Pattern[str]
    passed_on: re.Pattern[str]
    condition: re.Pattern[str]
    consequence: re.Pattern[str]
    hedged: re.Pattern[str]
    declined: re.Pattern[str]
    denying: re.Pattern[str]
    told_apart: re.Pattern[str]
    bygone: re.Pattern[str]
    relapse: re.Pattern[str]
    indefinite: re.Pattern[str]
    unit: re.Pattern[str]
    about_money: re.Pattern[str]
    background: re.Pattern[str]
    mourned: re.Pattern[str]
    laughter: re.Pattern[str]
    likened: re.Pattern[str]
    light: re.Pattern[str]
    supposing: re.Pattern[str]
    owning: re.Pattern[str]
    opining: re.Pattern[str]
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
