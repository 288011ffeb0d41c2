"""Note extraction: finds the words of a message that a note quotes, so it rests on evidence.

A quotation may differ in case, spacing or quotation marks; the note holds the words as they stand
in the message.
"""

from typing import NamedTuple

from oldfriend.domain.messages import Message, can_be_evidence
from oldfriend.memory.notes import normalize_note
from oldfriend.turn.attribution.quoted_spans import blank_spans, find_borrowed_spans, merge_spans
from oldfriend.turn.attribution.reporting_frames import is_open_request
from oldfriend.turn.intent import EDGE_PUNCTUATION, MIN_NOTE_WIDTH, PUNCTUATION_FOLDING
from oldfriend.turn.turn_outcome import Utterance


class MatchedWords(NamedTuple):
    """Exact words of a message."""

    text: str
    source: Message


def find_own_words(utterance: Utterance, quote: str) -> MatchedWords | None:
    """Return the quoted words as the person just said them; None if they did not or it is too
    short. Words that they quoted, pasted or forwarded are not theirs.
    """
    addressee_names = frozenset({utterance.addressee.name})
    for message in utterance.messages[::-1]:
        words = find_exact_text(message.text, quote.strip())
        if (
            words is None
            or not can_be_evidence(message.trust)
            or is_pasted_for_request(utterance, message)
        ):
            continue
        borrowed = find_borrowed_spans(message.text, message.language, addressee_names)
        if words in blank_spans(message.text, borrowed):
            return MatchedWords(words, message)
    return None


def find_own_part(utterance: Utterance) -> str:
    """Return the longest part of the last message that is the person's own; empty if none is."""
    addressee_names = frozenset({utterance.addressee.name})
    for message in utterance.messages[::-1]:
        if can_be_evidence(message.trust) and not is_pasted_for_request(utterance, message):
            text = message.text
            borrowed = find_borrowed_spans(text, message.language, addressee_names)
            spans = merge_spans(borrowed)
            edges = [0, *(at for span in spans for at in (span.start, span.end)), len(text)]
            parts = (text[at:end] for at, end in zip(edges[::2], edges[1::2], strict=True))
            return max(parts, key=len).strip()
    return ""


def is_pasted_for_request(utterance: Utterance, message: Message) -> bool:
    """Tell whether the previous message asked for work on a text and this message is that text."""
    before = utterance.messages[: utterance.messages.index(message)]
    return bool(before) and is_open_request(before[-1].text, before[-1].language)


def find_exact_text(text: str, quote: str) -> str | None:
    """Return the part of a text that matches the quote, as it stands there."""
    start = fold_quotes(text).find(fold_quotes(quote))
    if start < 0:
        quote = quote.strip(EDGE_PUNCTUATION)
        start = fold_quotes(text).find(fold_quotes(quote))
    words = text[start : start + len(quote)]
    width = sum(2 if character >= "\u2e80" else 1 for character in words)
    return words if start >= 0 and width > MIN_NOTE_WIDTH else None


def fold_quotes(text: str) -> str:
    """Fold case and quotation marks for comparison, one character for each character."""
    lower = text.lower()
    return (lower if len(lower) == len(text) else text).translate(QUOTE_FOLDING)


QUOTE_FOLDING = PUNCTUATION_FOLDING | str.maketrans(
    {"\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-"}
)


def is_same_note(one: str, other: str) -> bool:
    """Tell whether one of two notes of the same message contains the other."""
    first, second = normalize_note(one), normalize_note(other)
    return first in second or second in first
