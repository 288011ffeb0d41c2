"""Cues: closed word lists that mark whose words a sentence holds, by language."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Final

from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.detection import detect_language
from oldfriend.lang.language_pack import get_traits, list_languages, load_language_pack

CACHE_SIZE: Final = 1_024
NEVER: Final = re.compile(r"(?!)")
APOSTROPHES: Final = "’‘ʼ´`＇"
SIGN_FOLDING: Final = str.maketrans(
    {
        **dict.fromkeys(APOSTROPHES, "'"),
        **dict.fromkeys("\n\r\t\u3000\u00a0\u202f", " "),
        "：": ":",
        "，": ",",
        "；": ";",
        "！": "!",
        "？": "?",
        "（": "(",
        "）": ")",
        "＝": "=",
    }
)
"""One character for one, so that offsets in the folded text hold in the original."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributionCues:
    """The word lists of a language; ``attribution_cues.toml`` of English says what each is for."""

    language: str
    rewriting: re.Pattern[str]
    handle: re.Pattern[str]
    text: re.Pattern[str]
    deictic: re.Pattern[str]
    distal: re.Pattern[str]
    please: re.Pattern[str]
    fiction: re.Pattern[str]
    work: re.Pattern[str]
    opening: re.Pattern[str]
    game_invitation: re.Pattern[str]
    cast: re.Pattern[str]
    own_role: re.Pattern[str]
    dream: re.Pattern[str]
    dream_noun: re.Pattern[str]
    song: re.Pattern[str]
    says: re.Pattern[str]
    own_says: re.Pattern[str]
    attribution: re.Pattern[str]
    joke: re.Pattern[str]
    laughter: re.Pattern[str]
    retraction: re.Pattern[str]
    stage_direction: re.Pattern[str]
    label: re.Pattern[str]
    salutation: re.Pattern[str]
    greeting: re.Pattern[str]
    closing: re.Pattern[str]
    header: re.Pattern[str]
    self: re.Pattern[str]
    subject: re.Pattern[str]
    you: re.Pattern[str]
    other: re.Pattern[str]
    theirs: re.Pattern[str]
    copula: re.Pattern[str]
    article: re.Pattern[str]
    that: re.Pattern[str]
    who: re.Pattern[str]
    kin: re.Pattern[str]
    governing_word: re.Pattern[str]
    condition: re.Pattern[str]
    resumption: re.Pattern[str]
    contrast: re.Pattern[str]
    continuation: re.Pattern[str]
    hedge: re.Pattern[str]
    wish: re.Pattern[str]
    negation: re.Pattern[str]
    affirmation: re.Pattern[str]
    rhetorical: re.Pattern[str]
    user_reference: re.Pattern[str]
    game_exit: re.Pattern[str]
    chore: re.Pattern[str]
    near_miss: re.Pattern[str]
    irrealis: re.Pattern[str]
    likes: re.Pattern[str]
    waking: re.Pattern[str]
    dream_night: re.Pattern[str]
    exercise: re.Pattern[str]
    quotative: re.Pattern[str]
    introduction: re.Pattern[str]
    memory_order: re.Pattern[str]

    @property
    def is_unspaced(self) -> bool:
        """Tell whether the language is written without spaces or joins its words."""
        return get_traits(self.language).is_cjk


def fold_punctuation(text: str) -> str:
    """Lower-case a text and normalize its punctuation, one character for one."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(low if len(low := each.lower()) == 1 else each for each in text)
    return lower.translate(SIGN_FOLDING)


@text_lru_cache(CACHE_SIZE)
def list_cue_languages(text: str, default_language: str) -> tuple[str, ...]:
    """Return the languages whose cues a text may contain, likeliest first; always with English."""
    languages = dict.fromkeys(
        (detect_language(text, fallback=default_language), default_language, "en")
    )
    has_cues = list_languages("attribution_cues")
    return tuple(each for each in languages if each in has_cues)


def load_cues_for(text: str, default_language: str) -> tuple[AttributionCues, ...]:
    """Load the cues of the languages that a text may be in."""
    return tuple(load_cues(each) for each in list_cue_languages(text, default_language))


@cache
def load_cues(language: str) -> AttributionCues:
    """Load the cues of a language that has a file."""
    lists: Mapping[str, list[str]] = load_language_pack(language).read("attribution_cues")
    is_unspaced = get_traits(language).is_cjk
    patterns = {
        field.name: _compiled(lists[field.name], is_unspaced=is_unspaced)
        for field in fields(AttributionCues)
        if field.name != "language"
    }
    return AttributionCues(language=language, **patterns)


def _compiled(words: Iterable[str], *, is_unspaced: bool) -> re.Pattern[str]:
    """Compile one pattern that matches any of the words, the longest first."""
    longest_first = sorted(words, key=len, reverse=True)
    if not longest_first:
        return NEVER
    if is_unspaced:
        return re.compile(
            "|".join(re.escape(fold_punctuation(each.rstrip("*"))) for each in longest_first)
        )
    sources = (re.escape(fold_punctuation(each)).replace(r"\*", r"\w*") for each in longest_first)
    return re.compile(rf"(?<!\w)(?:{'|'.join(sources)})(?!\w)")
