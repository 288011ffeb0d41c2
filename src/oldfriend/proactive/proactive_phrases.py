"""Proactive phrases: what is said unasked, why, and by which words a person tells it when."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from oldfriend.domain.buttons import Button
from oldfriend.lang.language_pack import choose_language_with, list_languages, load_language_pack
from oldfriend.proactive.policy import IMPULSE_KINDS, ImpulseKind

NO_MORE_COMMAND: Final = "/notagain"
"""What was said unasked just now is not to be said again."""
MAX_REQUEST_CHARS: Final = 120
"""A longer message asks for something else, too, and is left to be answered."""
END_PUNCTUATION: Final = " .!。！…"
HOUR_PATTERN: Final = re.compile(
    r"(?<!\d)(\d{1,2})(?:[:.h：点](\d{2}))?\s?([ap]m)?(?!\d)", re.ASCII
)
"""An hour of the day, as in "22", "22:30" or "10pm"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProactivePhrases:
    """What one language has for it."""

    language: str
    phrases: Mapping[str, str]  # by kind and variant, with placeholders
    reasons: Mapping[str, str]  # by kind, for the receipt
    told: Mapping[str, str]  # how a choice is confirmed
    muted: Mapping[str, str]  # by kind
    names: Mapping[ImpulseKind, re.Pattern[str]]  # how a person calls a kind
    asks: Mapping[str, re.Pattern[str]]  # by what a whole message asks for
    no_more_button: Button  # below what is said unasked


@cache
def load_proactive_phrases(language: str) -> ProactivePhrases:
    """Load the phrases of a language, or of the fallback."""
    language = choose_language_with("proactive", language)
    table = load_language_pack(language).read("proactive")
    return ProactivePhrases(
        language=language,
        phrases=table["phrases"],
        reasons=table["reasons"],
        told=table["told"],
        muted=table["muted"],
        names={IMPULSE_KINDS[kind]: re.compile(text) for kind, text in table["names"].items()},
        asks={name: re.compile(text) for name, text in table["asks"].items()},
        no_more_button=Button(table["buttons"]["no_more"], NO_MORE_COMMAND),
    )


def list_proactive_languages(first: str) -> tuple[str, ...]:
    """Return the languages that have phrases, the likeliest first."""
    known = list_languages("proactive")
    return tuple(dict.fromkeys([*(each for each in (first,) if each in known), *known]))


def find_ask(text: str, language: str) -> tuple[str, ProactivePhrases, re.Match[str]] | None:
    """Return what a whole message asks for in any language, the likeliest first."""
    plain = text.strip().strip(END_PUNCTUATION).casefold()
    if not plain or len(plain) > MAX_REQUEST_CHARS:
        return None
    for each in list_proactive_languages(language):
        phrases = load_proactive_phrases(each)
        for name, pattern in phrases.asks.items():
            found = pattern.fullmatch(plain)
            if found is not None:
                return name, phrases, found
    return None


def find_hours(text: str) -> list[int]:
    """Return the hours of the day that a text names, as minutes of the day."""
    minutes: list[int] = []
    for found in HOUR_PATTERN.finditer(text.casefold()):
        hour, minute = int(found[1]), int(found[2] or 0)
        if found[3] is not None:
            hour = hour % 12 + (12 if found[3] == "pm" else 0)
        if hour <= 24 and minute < 60:
            minutes.append((60 * hour + minute) % (24 * 60))
    return minutes
