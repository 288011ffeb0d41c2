"""Forget orders: the words of a plain order to forget, and the names that it joins."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.lang.language_pack import choose_language_with
from oldfriend.measurements.lexicon import BREAK_CLASS, fold, get_lexicon
from oldfriend.memory.deletion.selection import has_any_name
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.search.synonyms import get_role_words
from oldfriend.search.tokenizer import is_stop_word
from oldfriend.turn.attribution.cues import load_cues
from oldfriend.turn.intent import EDGE_PUNCTUATION

MAX_PHRASE_WORDS: Final = 16
CONTENT: Final = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")
"""A word, or a Chinese character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetOrder:
    """An order to forget: its words, where those of the order end, and those that name things."""

    words: str
    order_end: int
    content: Sequence[tuple[int, int]]


def read_order(text: str, language: str) -> ForgetOrder:
    """Read an order to forget."""
    words = text.strip(EDGE_PUNCTUATION)
    begun = load_phrases(language).patterns.forget.search(words.lower())
    order_end = begun.end() if begun else 0
    tail = begun.groupdict().get("tail") if begun else None  # "all about …" names nothing itself
    content = [
        (found.start(), found.end())
        for found in CONTENT.finditer(words, order_end, len(words) - len(tail or ""))
        if not is_stop_word(found[0].lower(), language)
    ]
    return ForgetOrder(words=words, order_end=order_end, content=content)


def list_joined(ordered: ForgetOrder, language: str) -> list[list[tuple[int, int]]]:
    """List where the words stand of each name that an order joins, without what asks kindly."""
    words, roles = ordered.words, get_role_words(language)
    asks = [found.span() for found in load_cues(language).please.finditer(words)]
    parts: list[list[tuple[int, int]]] = []
    for start, end in ordered.content[:MAX_PHRASE_WORDS]:
        is_asking = any(first <= start and end <= last for first, last in asks)
        if is_asking or words[start:end].casefold() in roles:
            continue  # "my friend Lena"
        gap = words[parts[-1][-1][1] : start] if parts else ""
        if parts and not are_joints(gap, language):
            parts[-1].append((start, end))
        else:
            parts.append([(start, end)])
    return parts


def merge_names(words: str, places: Sequence[tuple[int, int]], told: Sequence[str]) -> list[str]:
    """Return the names at some places; two are one where either was told only in both: "Ben & Co".

    Else an order to forget an ice cream would take a brother along.
    """
    merged: list[tuple[int, int]] = []
    for start, end in places:
        first = merged[-1][0] if merged else start
        whole = words[first:end]
        apart = [each for each in told if not has_any_name(each, {whole})]
        parts = [words[slice(*each)] for each in (*merged[-1:], (start, end))]
        is_one = len(apart) < len(told) and not all(
            any(has_any_name(each, {part}) for each in apart) for part in parts
        )
        if merged and is_one:
            merged[-1] = (first, end)
        else:
            merged.append((start, end))
    return [words[start:end] for start, end in merged]


def is_last_joined(words: str, places: Sequence[tuple[int, int]], language: str) -> bool:
    """Whether a word joins the last of some names to those before it, and not a mark alone."""
    lexicon = get_lexicon(choose_language_with("measurements", language))
    gap = words[places[-2][1] : places[-1][0]] if len(places) > 1 else ""
    return any(each.is_any("joints") for each in lexicon.split_tokens(fold(gap)))


def are_joints(gap: str, language: str) -> bool:
    """Whether what stands between two names only joins them: ", ", " and my "."""
    lexicon = get_lexicon(choose_language_with("measurements", language))
    tokens = lexicon.split_tokens(fold(gap))
    is_joined = any(each.is_any("joints", BREAK_CLASS) for each in tokens)
    plain = (each for each in tokens if not each.is_any("joints", BREAK_CLASS))
    return is_joined and all(
        is_stop_word(each.text, language) or each.text in get_role_words(language) for each in plain
    )
