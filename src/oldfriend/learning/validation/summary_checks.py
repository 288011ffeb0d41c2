"""Summary checks: a sentence must rest on the person's own words or say whose it reports."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from oldfriend.domain.messages import Message
from oldfriend.lang.detection import detect_language
from oldfriend.learning.extraction import Claim
from oldfriend.learning.validation.assertion import LAUGHING_EMOJI
from oldfriend.learning.validation.cue_words import fold_characters, list_all_cue_words
from oldfriend.learning.validation.irony_and_refusal import check_irony
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.quoted_text import list_borrowed_spans
from oldfriend.learning.validation.segment_view import SegmentView, ValidationCase
from oldfriend.learning.validation.speech_acts import check_speech_act
from oldfriend.learning.validation.word_overlap import (
    Term,
    extract_terms,
    find_shared_terms,
    is_date_word,
)
from oldfriend.turn.attribution.quoted_spans import blank_spans
from oldfriend.turn.attribution.spans import find_sentences

MAX_SENTENCES: Final = 16
"""Sentences sharing words with a summary sentence that are examined."""
MIN_STATED_PART: Final = 0.5
MIN_STATED_PART_SHORT: Final = 1 / 3
SHORT_SENTENCE_TERMS: Final = 3
"""Share of a sentence's words that must have been said by whom it is about."""


def drop_unattributed(summary: str, view: SegmentView) -> str:
    """Drop the sentences of a summary that present somebody else's words as the person's."""
    kept = [
        summary[each.start : each.end].strip()
        for each in find_sentences(summary)
        if is_attributed(summary[each.start : each.end].strip(), view)
    ]
    return " ".join(kept)


def is_attributed(sentence: str, view: SegmentView) -> bool:
    """Return whether a sentence rests on the person's own words, or names its source."""
    language = detect_language(sentence, fallback=view.language)
    terms = extract_terms(sentence, language)
    if not terms or not LAUGHING_EMOJI.isdisjoint(sentence):
        return False
    if has_named_source(sentence, view):
        return _is_covered(terms, _iter_source_texts(sentence, view), view, language)
    stated, supposed = _split_stated(sentence, terms, view, language)
    own_terms = [term for text in stated for term in extract_terms(text, language)]
    unexplained = [
        each for each in terms if each not in find_shared_terms(terms, own_terms, language)
    ]
    foreign_terms = [
        term
        for text in (*supposed, *_iter_foreign_texts(view))
        for term in extract_terms(text, language)
    ]
    is_foreign = bool(find_shared_terms(unexplained, foreign_terms, language))
    return not is_foreign and _is_covered(terms, stated, view, language)


def _iter_foreign_texts(view: SegmentView) -> Iterator[str]:
    """Yield what is not the person's: borrowed spans, and the words of others."""
    for message in view.all_messages:
        if message.trust in {"other", "outside"}:
            yield message.text
        elif message.trust == "person":
            borrowed_spans = list_borrowed_spans(message, view.inputs.companion_names)
            yield from (message.text[each.start : each.end] for each in borrowed_spans)


def has_named_source(sentence: str, view: SegmentView) -> bool:
    """Return whether a sentence says that it was read, or names another speaker."""
    if any(each.read_in.search(fold_characters(sentence)) for each in list_all_cue_words()):
        return True
    plain = sentence.casefold()
    return any(
        name in plain for message in view.all_messages for name in _iter_source_names(message, view)
    )


def _iter_source_names(message: Message, view: SegmentView) -> Iterator[str]:
    names: set[str] = set()
    if message.trust == "other":
        names = {message.speaker, *message.speaker.split()[:1]}
    elif message.trust == "companion":
        names = {*view.inputs.companion_names}
    yield from (name.casefold() for name in names if name)


def _iter_source_texts(sentence: str, view: SegmentView) -> Iterator[str]:
    """Yield the words of the source that a sentence names, and those of the person."""
    is_read = any(each.read_in.search(fold_characters(sentence)) for each in list_all_cue_words())
    plain = sentence.casefold()
    for message in view.all_messages:
        names = list(_iter_source_names(message, view))
        is_named = any(name in plain for name in names)
        if message.trust == "person" or is_named or (is_read and message.trust == "outside"):
            yield " ".join([message.text, *names])


def _split_stated(
    sentence: str, terms: tuple[Term, ...], view: SegmentView, language: str
) -> tuple[list[str], list[str]]:
    """Return what the person or a tool states of a sentence, and what is no assertion."""
    claim = Claim(kind="fact", text=sentence, quotes=())
    found: list[tuple[int, QuoteSpan, str]] = []
    for message in view.inputs.messages:
        if message.trust not in {"person", "tool"} or message.role == "marker":
            continue
        own_text = blank_spans(
            message.text, list_borrowed_spans(message, view.inputs.companion_names)
        )
        for each in find_sentences(message.text):
            text = own_text[each.start : each.end]
            shared = len(find_shared_terms(terms, extract_terms(text, language), language))
            span = QuoteSpan(message=message, start=each.start, end=each.end)
            found += [(shared, span, text)] if shared else []
    found.sort(key=lambda each: -each[0])
    stated: list[str] = []
    supposed: list[str] = []
    for _, span, text in found[:MAX_SENTENCES]:
        case = ValidationCase(claim=claim, spans=(span,), view=view)
        is_asserted = _is_stated(claim, span, view) and check_irony(case) is None
        is_evidence = span.message.trust == "tool" or is_asserted
        (stated if is_evidence else supposed).append(text)
    return stated, supposed


def _is_stated(claim: Claim, span: QuoteSpan, view: SegmentView) -> bool:
    """Return whether a span states a sentence, about the speaker or somebody whom both name."""
    rejection = check_speech_act(claim, span, view)
    if rejection != "about another":
        return rejection is None
    language = span.message.language
    names = [each for each in extract_terms(span.sentence_text, language) if each.is_name]
    first = [each for each in extract_terms(claim.text, language)[:1] if each.start == 0]
    is_named = bool(find_shared_terms(first, names, language))
    return is_named and check_speech_act(replace(claim, subject="other"), span, view) is None


def _is_covered(
    terms: tuple[Term, ...], texts: Iterable[str], view: SegmentView, language: str
) -> bool:
    """Return whether every name and enough of the other words of a sentence have been said."""
    said_terms = [term for text in texts for term in extract_terms(text, language)]
    known = [name for each in view.inputs.entities for name in (each.name, *each.aliases)]
    known += [each.speaker for each in view.all_messages if each.trust == "person"]
    names = [term for name in known for term in extract_terms(name, language)]
    shared = find_shared_terms(terms, [*said_terms, *names], language)
    are_named = all(
        each in shared or is_date_word(each.word, language) for each in terms if each.is_name
    )
    min_share = MIN_STATED_PART_SHORT if len(terms) <= SHORT_SENTENCE_TERMS else MIN_STATED_PART
    return are_named and len(shared) >= min_share * len(terms) and bool(said_terms)
