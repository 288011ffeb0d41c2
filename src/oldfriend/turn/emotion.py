"""How does the person seem to feel, by the words alone? In each language the companion speaks.

Irony is not understood; what is denied just before does not count.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final, get_args

from oldfriend.domain.working import Emotion
from oldfriend.prompts.phrasebook import spoken_language
from oldfriend.turn.suspicion import visible_words

EMOTIONS: Final[tuple[Emotion, ...]] = get_args(Emotion)
LONGEST: Final = 2000
"""Characters that are looked at: who writes more tells of more than a feeling of now."""
BETWEEN: Final = 2
"""Words between a denial and what it denies: "not at all worried"."""
WITHOUT_SPACES: Final = frozenset({"zh"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Telltales:
    """By which words feelings show in a language, and what denies them."""

    of_emotion: Mapping[Emotion, re.Pattern[str]]  # the heavy ones first
    denial: re.Pattern[str]  # of what follows


def emotion_of(text: str, language: str) -> Emotion:
    """The feeling that shows most often in a text; the heavier one of two that show as often."""
    shown = visible_words(text[:LONGEST]).lower().replace("\u2019", "'")
    telltales = telltales_of(spoken_language(language))
    counts = {
        emotion: sum(not telltales.denial.search(shown[: found.start()]) for found in matches)
        for emotion, expression in telltales.of_emotion.items()
        if (matches := list(expression.finditer(shown)))
    }
    shown_at_all = [emotion for emotion, count in counts.items() if count]
    return max(shown_at_all, key=counts.__getitem__, default="neutral")


@cache
def telltales_of(language: str) -> Telltales:
    """By which words each feeling shows in a language."""
    file = resources.files("oldfriend.prompts") / "emotions.toml"
    book = tomllib.loads(file.read_text("utf-8"))[language]
    has_spaces = language not in WITHOUT_SPACES
    edge = r"\b" if has_spaces else ""
    between = rf"\s(?:\w+\s){{0,{BETWEEN}}}" if has_spaces else ""
    return Telltales(
        of_emotion={
            emotion: re.compile(rf"{edge}(?:{any_of(words)})")
            for name, words in book.items()
            for emotion in EMOTIONS
            if emotion == name
        },
        denial=re.compile(rf"{edge}(?:{any_of(book['not'])}){between}$"),
    )


def any_of(words: Sequence[str]) -> str:
    """An expression that finds any of these."""
    return "|".join(re.escape(word) for word in words)
