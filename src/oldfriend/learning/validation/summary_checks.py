"""Summary checks: a sentence must rest on the person's own words or say whose it reports."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.domain.memories import StoredBelief
from oldfriend.domain.messages import Message
from oldfriend.lang.detection import detect_language
from oldfriend.learning.critical_tokens import parse_number_word
from oldfriend.learning.extraction import Claim
from oldfriend.learning.validation.assertion import LAUGHING_EMOJI
from oldfriend.learning.validation.cue_words import fold_characters, list_all_cue_words
from oldfriend.learning.validation.irony_and_refusal import check_irony
from oldfriend.learning.validation.polarity import is_plainly_reversed
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.quoted_text import list_borrowed_spans
from oldfriend.learning.validation.segment_view import SegmentView, ValidationCase
from oldfriend.learning.validation.speech_acts import check_speech_act
from oldfriend.learning.validation.word_overlap import (
    WORD,
    Term,
    extract_terms,
    find_relatives,
    find_shared_terms,
    is_date_word,
)
from oldfriend.search.name_index import NamedIn
from oldfriend.turn.attribution.quoted_spans import blank_spans
from oldfriend.turn.attribution.spans import find_sentences, is_shortened

MAX_SENTENCES: Final = 16
"""Sentences sharing words with a summary sentence that are examined."""
MIN_VALUE: Final = 3
"""Smallest number in words that counts as a value; one and two are often only articles."""
MIN_TOLD: Final = 0.5
"""Share of a claim's words, or of a topic's, by which a text tells of that claim."""
MIN_TOLD_TERMS: Final = 2
MAX_DAY_DIGITS: Final = 2
ORDINAL: Final = re.compile(r"(?<!\d)\d{1,2}\.$")


def drop_unattributed(summary: str, view: SegmentView) -> str:
    """Drop the sentences of a summary that present somebody else's words as the person's.

    What is told in other words stays; names and numbers have to stand in the talk.
    """
    return " ".join(each for each in split_summary(summary, view) if is_attributed(each, view))


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtedWords:
    """What is in doubt and waits, beside what is believed."""

    claims: Sequence[Claim]
    believed: Sequence[Claim | StoredBelief]

    def are_told_by(self, sentence: str, language: str) -> bool:
        """Return whether a sentence tells what waits, rather than something that is believed."""
        terms = extract_terms(sentence, language)
        return any(
            _tells_claim(terms, each, language) and not self._tells_belief(terms, each, language)
            for each in self.claims
        )

    def are_meant_by(self, topic: str, language: str) -> bool:
        """Return whether a topic is that of what waits, rather than of something believed."""
        terms = extract_terms(topic, language)
        return any(
            _count_shared(terms, each.text, language) >= max(MIN_TOLD * len(terms), 1)
            and not self._tells_belief(terms, each, language)
            for each in self.claims
        )

    def _tells_belief(self, terms: Sequence[Term], doubted: Claim, language: str) -> bool:
        """Return whether something that is believed has as many words of a text as what waits."""
        shared = _count_shared(terms, doubted.text, language)
        return any(_count_shared(terms, each.text, language) >= shared for each in self.believed)


def _tells_claim(terms: Sequence[Term], claim: Claim, language: str) -> bool:
    value = extract_terms(claim.value or claim.text, language)
    if value and not _list_unshared(value, terms, language):
        return True
    words = [
        each
        for each in extract_terms(claim.text, language)
        if not is_date_word(each.word, language)
    ]
    shared = find_shared_terms(words, terms, language)
    return len(shared) >= max(MIN_TOLD * len(words), MIN_TOLD_TERMS)


def _count_shared(terms: Sequence[Term], text: str, language: str) -> int:
    return len(find_shared_terms(terms, extract_terms(text, language), language))


def drop_doubted(summary: str, doubted: DoubtedWords, view: SegmentView) -> str:
    """Drop the sentences of a summary that tell what is in doubt."""
    language = detect_language(summary, fallback=view.language)
    sentences = split_summary(summary, view)
    return " ".join(each for each in sentences if not doubted.are_told_by(each, language))


def split_summary(summary: str, view: SegmentView) -> Iterator[str]:
    """Yield the sentences of a summary; none begins with a small letter, or ends with "3." of May.

    A model writes in whole sentences, unlike people.
    """
    sentence = ""
    for span in find_sentences(summary):
        part = summary[span.start : span.end].strip()
        first = WORD.search(part)
        is_rest = first is not None and (
            first.group()[0].islower()
            or (
                ORDINAL.search(sentence) is not None
                and is_date_word(first.group(), detect_language(summary, fallback=view.language))
            )
        )
        if sentence and not is_rest:
            yield sentence
            sentence = ""
        sentence = f"{sentence} {part}".strip()
    if sentence:
        yield sentence


def is_attributed(sentence: str, view: SegmentView) -> bool:
    """Return whether a sentence may tell what the person said, or names its source.

    Not if a name or number of it was never said, or if more of its words stand only in what others
    said, what the companion said, or what was no assertion, than in the person's own statements.
    """
    language = detect_language(sentence, fallback=view.language)
    terms = extract_terms(sentence, language)
    if not terms or not LAUGHING_EMOJI.isdisjoint(sentence):
        return False
    named_terms = _extract_all(_iter_known_names(view), language)
    telling = [each for each in terms if not is_date_word(each.word, language)]
    telling = _list_unshared(telling, named_terms, language)
    if has_named_source(sentence, view):
        said_terms = _extract_all(_iter_source_texts(sentence, view), language)
        is_said = not telling or len(_list_unshared(telling, said_terms, language)) < len(telling)
        return is_said and _has_said_values(sentence, terms, [*said_terms, *named_terms], language)
    if _is_reversed(sentence, terms, view, language):
        return False
    stated, supposed = _split_stated(sentence, terms, view, language)
    own_terms = _extract_all(stated, language)
    said_terms = _extract_all((*stated, *supposed), language)
    if not _has_said_values(sentence, terms, [*said_terms, *named_terms], language):
        return False
    unstated = _list_unshared(telling, own_terms, language)
    stated_count = len(telling) - len(unstated)
    others_terms = _extract_all(_iter_foreign_texts(view), language)
    companion_terms = _extract_all(_iter_companion_texts(view), language)
    foreign = find_shared_terms(
        unstated, [*others_terms, *_extract_all(supposed, language)], language
    )
    suggested = find_shared_terms(unstated, companion_terms, language)
    if not stated_count and not foreign and not suggested:
        return not others_terms
    return len(foreign) < max(stated_count, 1) and len(suggested) <= stated_count


def _extract_opening(sentence: str, view: SegmentView) -> str:
    """Return the first two words of a sentence, behind the person's name: "Nora's mother"."""
    words = WORD.findall(sentence)
    name = view.inputs.person.name.casefold()
    start = 1 + (words[1:2] == ["s"]) if words and words[0].casefold() in {name, f"{name}s"} else 0
    return " ".join(words[start : start + 2])


def _extract_all(texts: Iterable[str], language: str) -> list[Term]:
    return [term for text in texts for term in extract_terms(text, language)]


def _list_unshared(terms: Sequence[Term], others: Sequence[Term], language: str) -> list[Term]:
    shared = find_shared_terms(terms, others, language)
    return [each for each in terms if each not in shared]


def _has_said_values(
    sentence: str, terms: Sequence[Term], said_terms: Sequence[Term], language: str
) -> bool:
    """Return whether every name and number of a sentence has been said; dates may be worked out."""
    values = [
        each
        for at, each in enumerate(terms)
        if (each.is_name or _is_titled(sentence, each) or _is_number_word(each.word, language))
        and not is_date_word(each.word, language)
        and not _is_day_of_month(terms, at, language)
    ]
    return len(find_shared_terms(values, said_terms, language)) == len(values)


def _is_titled(sentence: str, term: Term) -> bool:
    """Return whether a word follows a title, as only names do: "Dr. Weber"."""
    before = sentence[: term.start].rstrip()
    return before.endswith(".") and is_shortened(sentence, len(before) - 1)


def _is_number_word(word: str, language: str) -> bool:
    number = parse_number_word(word, language)
    return bool(number) and int(number) >= MIN_VALUE


def _is_day_of_month(terms: Sequence[Term], at: int, language: str) -> bool:
    """Return whether a number belongs to a date: "14 February", "3.12.", "11月14日"."""
    term = terms[at]
    if not term.word.isdecimal() or len(term.word) > MAX_DAY_DIGITS:
        return False
    beside = (*terms[max(0, at - 1) : at], *terms[at + 1 : at + 2])
    if any(is_date_word(each.word, language) for each in beside):
        return True
    return any(
        each is not term
        and each.word.isdecimal()
        and len(each.word) <= MAX_DAY_DIGITS
        and 1 in {each.start - term.end, term.start - each.end}
        for each in terms
    )


def _iter_known_names(view: SegmentView) -> Iterator[str]:
    """Yield the names of known entities, and of the person."""
    for entity in view.inputs.entities:
        yield from (entity.name, *entity.aliases)
    yield view.inputs.person.name
    yield from (each.speaker for each in view.all_messages if each.trust == "person")


def _iter_companion_texts(view: SegmentView) -> Iterator[str]:
    """Yield what the companion said."""
    yield from (each.text for each in view.all_messages if each.trust == "companion")


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
    if any(each.source_prefix.search(fold_characters(sentence)) for each in list_all_cue_words()):
        return True
    named = NamedIn(sentence, detect_language(sentence, fallback=view.language))
    return any(
        name in named for message in view.all_messages for name in _iter_source_names(message, view)
    )


def _iter_source_names(message: Message, view: SegmentView) -> Iterator[str]:
    names: set[str] = set()
    if message.trust == "other":
        names = {message.speaker, *message.speaker.split()[:1]}
    elif message.trust == "companion":
        names = {*view.inputs.companion_names}
    yield from filter(None, names)


def _iter_source_texts(sentence: str, view: SegmentView) -> Iterator[str]:
    """Yield the words of the source that a sentence names, and those of the person."""
    is_read = any(
        each.source_prefix.search(fold_characters(sentence)) for each in list_all_cue_words()
    )
    named = NamedIn(sentence, detect_language(sentence, fallback=view.language))
    for message in view.all_messages:
        names = list(_iter_source_names(message, view))
        is_named = any(name in named for name in names)
        if message.trust == "person" or is_named or (is_read and message.trust == "outside"):
            yield " ".join([message.text, *names])


def _split_stated(
    sentence: str, terms: tuple[Term, ...], view: SegmentView, language: str
) -> tuple[list[str], list[str]]:
    """Return what the person or a tool states of a sentence, and what is no assertion."""
    claim = Claim(kind="fact", text=sentence, quotes=())
    found = _find_sharing(terms, view, language)
    stated: list[str] = []
    supposed: list[str] = []
    for _, span, text in found:
        case = ValidationCase(claim=claim, spans=(span,), view=view)
        is_asserted = _is_stated(claim, span, view) and check_irony(case) is None
        is_evidence = span.message.trust == "tool" or is_asserted
        (stated if is_evidence else supposed).append(text)
    return stated, supposed


def _is_reversed(sentence: str, terms: Sequence[Term], view: SegmentView, language: str) -> bool:
    """Return whether a sentence says the opposite of all that shares words with it."""
    spans = tuple(span for _, span, _ in _find_sharing(terms, view, language))
    claim = Claim(kind="fact", text=sentence, quotes=())
    case = ValidationCase(claim=claim, spans=spans, view=view)
    return bool(spans) and is_plainly_reversed(case)


def _find_sharing(
    terms: Sequence[Term], view: SegmentView, language: str
) -> list[tuple[int, QuoteSpan, str]]:
    """Return the sentences of the person and of tools that share most words with a sentence.

    Each with their number, and without what is borrowed.
    """
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
    return found[:MAX_SENTENCES]


def _is_stated(claim: Claim, span: QuoteSpan, view: SegmentView) -> bool:
    """Return whether a span states a sentence, about the speaker or somebody whom both name."""
    rejection = check_speech_act(claim, span, view)
    if rejection != "about another":
        return rejection is None
    language = span.message.language
    names = [each for each in extract_terms(span.sentence_text, language) if each.is_name]
    first = [each for each in extract_terms(claim.text, language)[:1] if each.start == 0]
    relatives = find_relatives(span.sentence_text, language)
    is_named = bool(find_shared_terms(first, names, language)) or not relatives.isdisjoint(
        find_relatives(_extract_opening(claim.text, view), language)
    )
    return is_named and check_speech_act(replace(claim, subject="other"), span, view) is None
