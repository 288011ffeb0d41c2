"""Irony and refusal: rejects claims based on jokes, refusals, one-time events or unstated liking.

Recognized by each language's cue words; an interpretation without any cue word is accepted only in
languages that have no word list.
"""

from typing import Final

from oldfriend.domain.belief_kinds import FUTURE_KINDS, OCCURRENCE_KINDS
from oldfriend.domain.memories import PatternKind
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.validation.clauses import find_closest_clauses
from oldfriend.learning.validation.cue_words import fold_characters
from oldfriend.learning.validation.grounding import get_claim_language, is_in_language
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.learning.validation.segment_view import ValidationCase, get_span_cue_words
from oldfriend.learning.validation.speech_acts import find_answered_question, find_closest_sentences
from oldfriend.learning.validation.text_quality import HABIT_PATTERNS
from oldfriend.learning.validation.word_overlap import (
    extract_terms,
    find_shared_terms,
)
from oldfriend.turn.intent import split_sentences

SHORT_MESSAGE_SENTENCES: Final = 3
"""In messages of at most this many sentences, "I'm joking" is about all of them."""

ACTION_PATTERNS: Final[frozenset[PatternKind]] = frozenset({"behavior", "temporal", "causal"})

LIKING_CATEGORIES: Final = frozenset(
    {"interests", "dislikes", "dietary", "travel_style", "accommodation"}
)
"""Categories of likes and avoidances; the others are more like facts."""


def check_irony(case: ValidationCase) -> RejectionReason | None:
    """Reject what its speaker calls a joke, hyperbole, or praise of what went wrong.

    Occurrences are true even if somebody jokes about them.
    """
    claim, sentences = (
        case.claim,
        [(get_span_cue_words(span), fold_characters(span.sentence_text)) for span in case.spans],
    )
    messages = [
        (get_span_cue_words(span), fold_characters(get_short_message_text(span)))
        for span in case.spans
    ]
    if claim.kind != "event" and all(cue_words.ironic.search(text) for cue_words, text in messages):
        return "in jest"
    closest = find_closest_spans(case)
    can_be_joke = claim.kind not in OCCURRENCE_KINDS and claim.key not in LIKING_CATEGORIES - {
        "dietary"
    }
    if can_be_joke and all(is_hyperbole(case, span) for span in closest):
        return "in jest"
    praises = case.cue_words.praise.search(fold_characters(claim.text)) is not None
    is_ironic = all(
        cue_words.praise.search(text) and cue_words.mishap.search(text)
        for cue_words, text in sentences
    )
    return "in jest" if praises and is_ironic else None


def find_closest_spans(case: ValidationCase) -> tuple[QuoteSpan, ...]:
    """Return the spans that share most words with a claim."""
    language = get_claim_language(case)
    claim_terms = extract_terms(f"{case.claim.text} {case.claim.value}", language)
    shared = [
        len(find_shared_terms(claim_terms, extract_terms(span.sentence_text, language), language))
        for span in case.spans
    ]
    return tuple(each for each, n in zip(case.spans, shared, strict=True) if n == max(shared))


def is_hyperbole(case: ValidationCase, span: QuoteSpan) -> bool:
    """Return whether a claim was said in words that nobody means literally, or with a wink."""
    closest = " ".join(find_closest_sentences(case.claim, span))
    return get_span_cue_words(span).hyperbole.search(fold_characters(closest)) is not None


def get_short_message_text(span: QuoteSpan) -> str:
    """Return the whole message if it is short, else the quoted sentence: jokes refer back."""
    text = span.message.text
    return text if len(split_sentences(text)) <= SHORT_MESSAGE_SENTENCES else span.sentence_text


def check_refusal(case: ValidationCase) -> RejectionReason | None:
    """Reject a promise of the person in words that refuse it."""
    claim = case.claim
    if claim.kind not in FUTURE_KINDS or claim.subject == "companion" or claim.effect != "new":
        return None
    statements = [
        (get_span_cue_words(span), find_closest_sentences(claim, span)) for span in case.spans
    ]
    is_refused = all(
        cue_words.refusal.search(fold_characters(sentences[0]))
        and not cue_words.reminder_request.search(fold_characters(sentences[0]))
        for cue_words, sentences in statements
    )
    is_declined = any(
        get_span_cue_words(span).rejection.search(fold_characters(get_short_message_text(span)))
        for span in case.spans
    )
    return "promise refused" if is_declined or (is_refused and claim.kind == "commitment") else None


def check_habit(case: ValidationCase) -> RejectionReason | None:
    """Reject a habit if the words do not say that it is one."""
    claim = case.claim
    if (
        claim.kind != "pattern"
        or claim.pattern not in HABIT_PATTERNS
        or claim.effect == "reinforces"
    ):
        return None
    if claim.pattern in ACTION_PATTERNS and claim.effect == "new" and is_single_occurrence(case):
        return "happened once"
    if not is_in_language(case, get_claim_language(case)) or not case.cue_words.habitual.search(
        fold_characters(claim.text)
    ):
        return None
    questions = (find_answered_question(span, case.view) for span in case.spans)
    texts = [
        *(span.message.text for span in case.spans),
        *(each.text for each in questions if each),
    ]
    is_stated = any(case.cue_words.habitual.search(fold_characters(text)) for text in texts)
    return None if is_stated else "happened once"


def is_single_occurrence(case: ValidationCase) -> bool:
    """Return whether the words report what was done or is being done, not what one does."""
    if any(span.message.language not in list_languages("evidence_cues") for span in case.spans):
        return False
    for span in case.spans:
        cue_words, clauses = get_span_cue_words(span), find_closest_clauses(case.claim, span)
        sentences = fold_characters(" ".join(find_closest_sentences(case.claim, span)))
        if (
            not clauses
            or cue_words.habitual.search(sentences)
            or cue_words.change_of_state.search(sentences)
        ):
            return False
        if not all(cue_words.past_occasion.search(each.until) for each in clauses):
            return False
    return True
