"""Emotion detection: classifies a message's emotion by word lists, in every supported language.

Irony is not detected; a word that is negated just before it does not count.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, get_args

from oldfriend.domain.working_memory import UserEmotion
from oldfriend.lang.language_pack import choose_language_with, load_language_pack
from oldfriend.turn.injection_detection import strip_hidden_characters

EMOTIONS: Final[tuple[UserEmotion, ...]] = get_args(UserEmotion)
MAX_SCANNED_CHARS: Final = 2000
"""Characters scanned; a longer text is about more than the current emotion."""
MAX_WORDS_BETWEEN: Final = 2
"""The most words between a negation and what it negates: "not at all worried"."""
NEGATION_WINDOW_CHARS: Final = 80
"""Characters before a word that are searched for a negation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmotionCues:
    """The words for each emotion in a language, and its negations."""

    patterns: Mapping[UserEmotion, re.Pattern[str]]  # the more serious first
    denial: re.Pattern[str]  # negates what follows


def detect_emotion(text: str, language: str) -> UserEmotion:
    """Return the most frequent emotion of a text; of a tie, the more serious one."""
    visible = strip_hidden_characters(text[:MAX_SCANNED_CHARS]).lower().replace("\u2019", "'")
    cues = load_emotion_cues(choose_language_with("emotions", language))
    counts = {
        emotion: sum(not is_negated_before(visible, found.start(), cues) for found in matches)
        for emotion, expression in cues.patterns.items()
        if (matches := list(expression.finditer(visible)))
    }
    found_emotions = [emotion for emotion, count in counts.items() if count]
    return max(found_emotions, key=counts.__getitem__, default="neutral")


def is_negated_before(text: str, position: int, cues: EmotionCues) -> bool:
    """Tell whether the words just before a position negate what stands there."""
    return cues.denial.search(text, max(0, position - NEGATION_WINDOW_CHARS), position) is not None


@cache
def load_emotion_cues(language: str) -> EmotionCues:
    """Load the emotion words of a language."""
    pack = load_language_pack(language)
    word_lists, has_spaces = pack.read("emotions"), pack.traits.spaces
    edge = r"\b" if has_spaces else ""
    between = rf"\s(?:\w+\s){{0,{MAX_WORDS_BETWEEN}}}" if has_spaces else ""
    return EmotionCues(
        patterns={
            emotion: re.compile(rf"{edge}(?:{build_alternation(words)})")
            for name, words in word_lists.items()
            for emotion in EMOTIONS
            if emotion == name
        },
        denial=re.compile(rf"{edge}(?:{build_alternation(word_lists['not'])}){between}$"),
    )


def build_alternation(words: Sequence[str]) -> str:
    """Build a pattern that matches any of these words."""
    return "|".join(re.escape(word) for word in words)
