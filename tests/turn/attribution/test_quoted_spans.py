"""All ways of borrowing together, in bounded time."""

import time

import pytest

from oldfriend.turn.attribution.cues import fold_punctuation, load_cues
from oldfriend.turn.attribution.quoted_spans import (
    blank_spans,
    find_borrowed_spans,
    is_passed_on,
    merge_spans,
)
from oldfriend.turn.attribution.spans import BorrowedSpan

UNITS = [
    "'",
    '"',
    "“",
    "«",
    "> ",
    ": ",
    "\n",
    "\n\n",
    "a: ",
    "Nora: hi\n",
    "10:21\n",
    "*",
    "`",
    "{",
    "<a",
    "[x] ",
    "- ",
    "—",
    "translate this: ",
    "I said: ",
    "(",
    "http://",
    "a?b=",
    "=",
    ";",
    "|",
    "she says: ",
    "I had a dream. ",
    "translate this: “a” ",
    "Dear A,\n",
    "Best,\n",
    "если ",
    "我说：",
    "「",
    "♪",
    "x" * 50 + " ",
    "\u200b",
    "І",
    ".",
    "...",
]
LIMIT = 3.0
"""Seconds of CPU for 20,000 characters, on a slow machine."""


@pytest.mark.parametrize("unit", UNITS)
def test_finding_borrowed_spans_in_repetitive_text_takes_bounded_time(unit: str) -> None:
    """Whatever is repeated."""
    text = (unit * 20_000)[:20_000]
    began = time.thread_time()
    stretches = find_borrowed_spans(text, "en")
    blank_spans(text, stretches)

    assert time.thread_time() - began < LIMIT


def test_borrowed_spans_are_replaced_by_spaces_and_overlaps_are_merged() -> None:
    """Each character by a space, however they overlap."""
    text = "one two three four"
    stretches = (BorrowedSpan(4, 13, "quoted"), BorrowedSpan(8, 13, "pasted"))

    assert blank_spans(text, stretches) == "one           four"
    assert (
        merge_spans(stretches) == (BorrowedSpan(4, 13, "pasted"),)
        or len(merge_spans(stretches)) == 1
    )


def test_text_beyond_the_length_limit_is_treated_as_borrowed() -> None:
    """Nobody types so much by hand."""
    text = "I walked on. " * 3_000
    stretches = find_borrowed_spans(text, "en")

    assert blank_spans(text, stretches).strip() == text[:20_000].strip()


@pytest.mark.parametrize(
    "language", ["en", "es", "de", "fr", "zh", "pt", "it", "nl", "ru", "ja", "ko"]
)
def test_every_detectable_language_has_attribution_cues(language: str) -> None:
    """Those with a pack, and those without one."""
    cues = load_cues(language)

    assert cues.rewriting.pattern
    assert cues.says.pattern
    assert len(fold_punctuation("Ｉ’m ＯＫ")) == len("Ｉ’m ＯＫ")


@pytest.mark.parametrize(
    "text",
    [
        "My plan: I quit in May.",
        'I told Ana: "I am leaving in May."',
        "I love this: my sister baked me a cake.",
        "I moved to Bonn. Found this: the tram closes.",
        'My cat is called "Miso".',
        "Ich habe zu Ana gesagt: „Ich kündige im Mai.“",
    ],
)
def test_own_words_behind_a_heading_are_not_passed_on(text: str) -> None:
    """Nor a message that tells something of its own before what was found."""
    assert not is_passed_on(text, "")
