"""Coverage: checks that a claim's value, names and subject matter appear in its evidence."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from oldfriend.domain.belief_kinds import FUTURE_KINDS, OCCURRENCE_KINDS
from oldfriend.domain.ids import MessageId
from oldfriend.domain.messages import WIDE_CHARS, Message
from oldfriend.domain.relations import RELATION_KEY_SUFFIX
from oldfriend.lang.detection import detect_language
from oldfriend.learning.extraction import Claim
from oldfriend.learning.validation.assent import is_affirmative
from oldfriend.learning.validation.grounding import (
    get_claim_language,
    get_nearby_messages,
    iter_computed_numbers,
    iter_time_numbers,
)
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.quoted_text import get_own_text
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.learning.validation.segment_view import SegmentView, ValidationCase
from oldfriend.learning.validation.speech_acts import check_speech_act, find_answered_question
from oldfriend.learning.validation.word_overlap import (
    Term,
    extract_terms,
    find_relatives,
    find_shared_terms,
    is_abbreviation,
    is_date_word,
)
from oldfriend.turn.attribution.spans import find_sentences

LOOKBACK: Final = 3
"""Messages of the person before a quote that may say what it is about."""
MAX_SENTENCES: Final = 24
"""Sentences around a quote that are examined."""
MAX_ANSWER_WORDS: Final = 12
MAX_ANSWER_CHARS: Final = 30
"""Words, or characters, of an answer that leaves its subject to the question."""
MAX_SLIGHT_TERMS: Final = 1
MAX_SLIGHT_ANSWER_TERMS: Final = 4
"""So few content words mean something only with the words before them: "I did it!"; more of them
if they answer a question.
"""
MIN_VALUE_COVERAGE: Final = 0.5
MIN_TEXT_COVERAGE: Final = 0.33
MIN_SHORT_TEXT_COVERAGE: Final = 0.5
MIN_TEXT_COVERAGE_WITHOUT_VALUE: Final = 0.66
SHORT_TEXT_TERMS: Final = 2
"""Share of a value, of a text, and of a short text that must have been said."""
ADDITIVE_EFFECTS: Final = frozenset({"reinforces", "fulfils", "cancels"})


def check_coverage(case: ValidationCase) -> RejectionReason | None:
    """Return "unfounded" if the words do not contain what is claimed; None if they do."""
    claim = case.claim
    if claim.effect in ADDITIVE_EFFECTS or claim.subject == "companion":
        return None
    language = detect_language(claim.text, fallback=case.view.language)
    text = _drop_date_words(extract_terms(claim.text, language), language)
    value = _drop_date_words(extract_terms(claim.value, language), language)
    value = [] if claim.key.endswith(RELATION_KEY_SUFFIX) else value
    if not text and not value:
        return None
    cited_sentences = list(_iter_cited_sentences(case.spans))
    cited_terms = _list_terms(cited_sentences, language)
    supporting = list(_iter_supporting_sentences(case))
    supporting_terms = _list_terms((words for _, words in supporting), language)
    messages = {span.message.id for span in case.spans}
    nearby_terms = _list_terms(
        (words for message, words in supporting if message in messages), language
    )
    question_terms = _list_terms(_iter_questions(case), language)
    known_terms = _list_terms(_iter_known(case), language)
    said_terms = [*cited_terms, *supporting_terms, *_list_terms(_iter_times(case), language)]
    confirmed_terms = question_terms if _is_confirmed(case) else []
    name_terms = _list_terms(_iter_names(case), language)
    if not _are_names_covered(
        [*text, *value], [*said_terms, *question_terms, *known_terms, *name_terms], language
    ):
        return "unfounded"
    is_referred_to = (
        _contains_value(claim.value, cited_sentences)
        or _has_enough_overlap([*text, *value], [*cited_terms, *nearby_terms], language)
        or bool(
            find_relatives(claim.text, language)
            & find_relatives(" ".join(cited_sentences), language)
        )
    )
    max_slight = MAX_SLIGHT_ANSWER_TERMS if question_terms else MAX_SLIGHT_TERMS
    if (
        not is_referred_to
        and not confirmed_terms
        and (len(cited_terms) > max_slight or not [*supporting_terms, *known_terms])
    ):
        return "unfounded"
    if _contains_value(claim.value, cited_sentences):
        return None
    return _check_coverage_ratio(
        text,
        value,
        [*said_terms, *confirmed_terms, *known_terms],
        [*said_terms, *question_terms, *known_terms, *name_terms],
        language,
    )


def check_value_cited(case: ValidationCase) -> RejectionReason | None:
    """Reject a preference if the cited words, and what they answer, do not mention its value."""
    claim = case.claim
    if claim.kind != "preference" or claim.effect in ADDITIVE_EFFECTS:
        return None
    language = get_claim_language(case)
    value = extract_terms(claim.value, language)
    cited = _list_terms([*_iter_cited_sentences(case.spans), *_iter_questions(case)], language)
    is_cited = not value or bool(find_shared_terms(value, cited, language))
    return None if is_cited else "unfounded"


def _check_coverage_ratio(
    text: Sequence[Term],
    value: Sequence[Term],
    said: Sequence[Term],
    nearby: Sequence[Term],
    language: str,
) -> RejectionReason | None:
    """Return "unfounded" if too little of a value, or else of a text, has been said."""
    text_matches, value_matches = (
        len(find_shared_terms(each, said, language)) for each in (text, value)
    )
    if value and value_matches >= MIN_VALUE_COVERAGE * len(value):
        return None
    min_share = MIN_TEXT_COVERAGE
    if value and not find_shared_terms(value, nearby, language):
        min_share = MIN_TEXT_COVERAGE_WITHOUT_VALUE
    elif len(text) <= SHORT_TEXT_TERMS or value:
        min_share = MIN_SHORT_TEXT_COVERAGE
    is_covered = text_matches > 0 and len(
        find_shared_terms(text, nearby, language)
    ) >= min_share * len(text)
    return None if is_covered and not any(each.is_name for each in value) else "unfounded"


def _has_enough_overlap(terms: Sequence[Term], cited: Sequence[Term], language: str) -> bool:
    """Return whether the cited words share a word, or more than one character, with a claim."""
    shared = {each.word for each in find_shared_terms(terms, cited, language)}
    return any(len(each) > 1 for each in shared) or len(shared) >= min(2, len(terms))


def _contains_value(value: str, texts: Iterable[str]) -> bool:
    """Return whether a value of more than one character appears verbatim in a text."""
    plain = value.casefold()
    return len(plain) > 1 and any(plain in text.casefold() for text in texts)


def _iter_cited_sentences(spans: Iterable[QuoteSpan]) -> Iterator[str]:
    """Yield the cited sentences, without pasted text."""
    for span in spans:
        own = get_own_text(span.message)
        for sentence in find_sentences(span.message.text):
            if sentence.start < span.end and span.start < sentence.end:
                yield own[sentence.start : sentence.end]


def _iter_supporting_sentences(case: ValidationCase) -> Iterator[tuple[MessageId, str]]:
    """Yield the speaker's other sentences that state something of the claim."""
    claim, language = case.claim, case.view.language
    claim_terms = extract_terms(f"{claim.text} {claim.value}", language)
    cited = {(candidate.message.id, candidate.start) for candidate in case.spans}
    looked_at = 0
    for message in _iter_nearby_messages(case):
        own = get_own_text(message)
        for sentence in find_sentences(message.text):
            text = own[sentence.start : sentence.end]
            candidate = QuoteSpan(message=message, start=sentence.start, end=sentence.end)
            is_near = find_shared_terms(claim_terms, extract_terms(text, language), language)
            if not is_near or (message.id, candidate.start) in cited or looked_at == MAX_SENTENCES:
                continue
            looked_at += 1
            if _is_supporting(claim, candidate, case.view):
                yield message.id, text


def _iter_nearby_messages(case: ValidationCase) -> Iterator[Message]:
    """Yield the cited messages, and the same speaker's messages just before them."""
    seen = set()
    for span in case.spans:
        near = get_nearby_messages(span, case)
        at = near.index(span.message)
        for message in (*near[max(0, at - LOOKBACK) : at], span.message):
            is_same = (message.trust, message.speaker) == (
                span.message.trust,
                span.message.speaker,
            )
            if is_same and message.id not in seen:
                seen.add(message.id)
                yield message


def _is_supporting(claim: Claim, span: QuoteSpan, view: SegmentView) -> bool:
    if span.message.trust in {"outside", "tool"}:
        return True
    return check_speech_act(replace(claim, quotes=()), span, view) is None


def _iter_questions(case: ValidationCase) -> Iterator[str]:
    """Yield the question just before a quote, if the quote is a short answer to it."""
    for span in case.spans:
        text = span.message.text
        is_short = (
            len(text.split()) <= MAX_ANSWER_WORDS
            and len(WIDE_CHARS.findall(text)) <= MAX_ANSWER_CHARS
        )
        question = find_answered_question(span, case.view) if is_short else None
        if question is not None and question.trust == "companion":
            yield question.text
    cited = {quote.message for quote in case.claim.quotes}
    for span in case.spans:
        before = case.view.list_before(span.message)[-1:]
        yield from (each.text for each in before if each.trust == "companion" and each.id in cited)


def _is_confirmed(case: ValidationCase) -> bool:
    return any(
        span.message.trust == "person" and is_affirmative(span.message) for span in case.spans
    )


def _iter_known(case: ValidationCase) -> Iterator[str]:
    """Yield the known future beliefs, and the belief that the claim targets."""
    claim = case.claim
    for memory in case.view.known.values():
        if memory.id == claim.target or (
            claim.kind in OCCURRENCE_KINDS and memory.kind in FUTURE_KINDS
        ):
            yield f"{memory.text} {memory.value}"


def _iter_names(case: ValidationCase) -> Iterator[str]:
    """Yield the speakers' names, everything that the person said, and what is known."""
    inputs = case.view.inputs
    yield from (inputs.person.name, *inputs.companion_names)
    yield from (text for span in case.spans for text in (span.message.speaker, span.text))
    for entity in inputs.entities:
        yield from (entity.name, *entity.aliases)
    yield from (f"{memory.text} {memory.value}" for memory in case.view.known.values())
    yield from (get_own_text(each) for each in case.view.all_messages if each.trust == "person")


def _iter_times(case: ValidationCase) -> Iterator[str]:
    """Yield the numbers of the dates and times of a claim, of the messages, and what follows."""
    near = [message for span in case.spans for message in get_nearby_messages(span, case)]
    yield from iter_time_numbers(case.claim, near)
    yield from iter_computed_numbers(case.claim, near, get_claim_language(case))


def _are_names_covered(terms: Sequence[Term], said: Sequence[Term], language: str) -> bool:
    """Return whether every name and number of a claim was said, is known, or is in its time."""
    names = [each for each in terms if each.is_name]
    shared = find_shared_terms(names, said, language)
    return all(each in shared or _is_said_in_short(each, terms, said) for each in names)


def _is_said_in_short(name: Term, terms: Sequence[Term], said: Sequence[Term]) -> bool:
    """Return whether a name was abbreviated beside the same word: "pinjarra rd", "mt lawley"."""
    at = terms.index(name)
    before, after = (
        {each.word for each in part}
        for part in (terms[max(0, at - 1) : at], terms[at + 1 : at + 2])
    )
    return any(
        (first.word in before and is_abbreviation(second.word, name.word))
        or (second.word in after and is_abbreviation(first.word, name.word))
        for first, second in pairwise(said)
    )


def _drop_date_words(terms: Iterable[Term], language: str) -> list[Term]:
    """Return the terms without names of months and days, which a date may express."""
    return [each for each in terms if not is_date_word(each.word, language)]


def _list_terms(texts: Iterable[str], language: str) -> list[Term]:
    return [term for text in texts for term in extract_terms(text, language)]
