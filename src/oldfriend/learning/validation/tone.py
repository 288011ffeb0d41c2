"""Tone: rejects thoughts that contain labels, advice or technical terms; friends do not think so.

Uses the banned terms of each language. Labels and technical terms are looked for in every
language, advice in that of the thought. What becomes of the thought is not decided here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from oldfriend.lang.detection import detect_language
from oldfriend.lang.language_pack import (
    choose_language_with,
    list_languages,
    load_language_pack,
)
from oldfriend.learning.validation.cue_words import fold_characters

ToneViolation = Literal["clinical", "advice", "metadata", "wrong language"]

MACHINE_MARKUP: Final = re.compile(
    r"(?<![A-Za-z0-9_'’])[ek]\d{1,3}(?![A-Za-z0-9_])"  # an alias
    r"|[0-9a-f]{8}-[0-9a-f]{4}|[{}<>]|\[\d|\]\(|&#?\w+;|https?://|```"
)
"""What no sentence of a friend contains: aliases, ids, code, links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TonePatterns:
    """Tone patterns: words of one language that have no place in a thought."""

    clinical: re.Pattern[str]
    advice: re.Pattern[str]
    no_duty: re.Pattern[str]
    metadata: re.Pattern[str]


def check_tone(text: str, *, language: str) -> ToneViolation | None:
    """Return why a thought is not in a friend's tone or not in its language; None if it is."""
    plain = fold_characters(text)
    if has_clinical_label(text):
        return "clinical"
    if MACHINE_MARKUP.search(plain) or any(
        load_tone_patterns(each).metadata.search(plain) for each in list_languages("banned_terms")
    ):
        return "metadata"
    tone = load_tone_patterns(choose_language_with("banned_terms", language))
    if tone.advice.search(tone.no_duty.sub(" ", plain)):
        return "advice"
    return None if detect_language(text, fallback=language) == language else "wrong language"


def has_clinical_label(text: str) -> bool:
    """Return whether a text applies a medical label to somebody, in any language."""
    plain = fold_characters(text)
    return any(
        load_tone_patterns(each).clinical.search(plain) for each in list_languages("banned_terms")
    )


@cache
def load_tone_patterns(language: str) -> TonePatterns:
    """Load the tone patterns of a supported language."""
    lists: Mapping[str, list[str]] = load_language_pack(language).read("banned_terms")
    return TonePatterns(
        **{
            name: re.compile("|".join(lists[name]), re.IGNORECASE)
            for name in TonePatterns.__slots__
        }
    )
