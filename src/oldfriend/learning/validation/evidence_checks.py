"""Evidence checks: decides whether quotes support a claim, by their author and how they were said.

What others say is evidence about themselves; pasted text supports only "read in …". The companion's
own words prove two things: what it promised, and what it thinks.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from oldfriend.domain.belief_kinds import KINDS_BY_NAME, OwnWordsRule
from oldfriend.domain.messages import Message, can_be_evidence
from oldfriend.lang.detection import detect_language
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.extraction import Claim
from oldfriend.learning.validation.cue_words import fold_characters, get_cue_words
from oldfriend.learning.validation.modality import check_stated_modality
from oldfriend.learning.validation.own_view_checks import check_own_view
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.learning.validation.segment_view import SegmentView, get_span_cue_words
from oldfriend.learning.validation.speech_acts import (
    check_speech_act,
    find_previous_message,
    is_bare_assent,
)

OwnWordsCheck: TypeAlias = Callable[
    [Claim, tuple[QuoteSpan, ...], SegmentView], RejectionReason | None
]


def validate_evidence(
    claim: Claim, spans: tuple[QuoteSpan, ...], view: SegmentView
) -> tuple[QuoteSpan, ...] | RejectionReason:
    """Return the spans that support a claim, or why none does."""
    kind = KINDS_BY_NAME[claim.kind]
    language = detect_language(claim.text, fallback=view.language)
    if (rejection := check_stated_modality(claim, language, get_cue_words(language))) is not None:
        return rejection
    if kind.own_words is not None and (claim.subject == "companion" or kind.is_companions):
        return OWN_WORDS_CHECKS[kind.own_words](claim, spans, view) or spans
    if any(span.message.trust == "outside" for span in spans):
        return check_outside_source(claim, spans, view) or spans
    allowed = tuple(span for span in spans if is_allowed_author(claim, span))
    if not allowed:
        return get_author_rejection(spans)
    rejections = [check_speech_act(claim, span, view) for span in allowed]
    supporting = tuple(
        span for span, rejection in zip(allowed, rejections, strict=True) if rejection is None
    )
    return add_answered_question(supporting, spans, view) or next(filter(None, rejections))


def is_allowed_author(claim: Claim, span: QuoteSpan) -> bool:
    """Return whether this author's words may support a claim of this kind."""
    message = span.message
    if message.trust == "other":
        return is_self_report(claim, message)
    return can_be_evidence(message.trust) and message.role != "marker"


def is_self_report(claim: Claim, message: Message) -> bool:
    """Return whether a claim about somebody else rests on their own words, and names them."""
    names = [message.speaker, *message.speaker.split()[:1]]
    is_named = any(name and name.casefold() in claim.text.casefold() for name in names)
    return claim.subject == "other" and KINDS_BY_NAME[claim.kind].may_rest_on_others and is_named


def get_author_rejection(spans: Iterable[QuoteSpan]) -> RejectionReason:
    """Return why words that are not the person's support nothing."""
    trusts = {span.message.trust for span in spans}
    if "other" in trusts:
        return "words of another"
    return "companion's words" if "companion" in trusts else "not evidence"


def check_outside_source(
    claim: Claim, spans: tuple[QuoteSpan, ...], view: SegmentView
) -> RejectionReason | None:
    """Return why outside words do not support a claim; only new "read in …" events may use them."""
    cue_word_lists = [get_cue_words(view.language), *(get_span_cue_words(span) for span in spans)]
    names_source = any(each.read_in.search(fold_characters(claim.text)) for each in cue_word_lists)
    is_whole = all(span.message.trust in {"outside", "person"} for span in spans)
    if claim.kind == "event" and claim.effect == "new" and names_source and is_whole:
        return None
    return "outside words"


def add_answered_question(
    supporting: tuple[QuoteSpan, ...], spans: tuple[QuoteSpan, ...], view: SegmentView
) -> tuple[QuoteSpan, ...]:
    """Add the companion's question if the person only said yes to it."""
    answers = [span for span in supporting if is_bare_assent(span.text, get_span_cue_words(span))]
    question_ids = {
        question.id
        for span in answers
        if (question := find_previous_message(span, view)) is not None
    }
    return tuple(
        span
        for span in spans
        if span in supporting
        or (span.message.trust == "companion" and span.message.id in question_ids)
    )


def check_promise(
    claim: Claim, spans: tuple[QuoteSpan, ...], view: SegmentView
) -> RejectionReason | None:
    """Return why a promise of the companion does not hold; None if it does."""
    own_spans = [span for span in spans if span.message.trust == "companion"]
    if any(span.message.trust == "outside" for span in spans):
        return "promise without word"
    if claim.effect == "fulfils":
        return None  # keeping a promise needs no further promise
    if not own_spans:
        return "promise without word"
    promised = [span for span in own_spans if is_promise(span)]
    if not promised:
        return "promise without word"
    if claim.due_at is None or not any(has_named_time(span, view) for span in promised):
        return "promise without time"
    return "promise refused" if any(is_refused(span, view) for span in promised) else None


def is_promise(span: QuoteSpan) -> bool:
    """Return whether words promise; in a language without word lists, whether they do not ask."""
    if span.message.language not in list_languages("evidence_cues"):
        return "?" not in fold_characters(span.sentence_text)
    return get_span_cue_words(span).promise.search(fold_characters(span.sentence_text)) is not None


def has_named_time(span: QuoteSpan, view: SegmentView) -> bool:
    """Return whether the promising message, or the one it answers, says when.

    In a language without word lists the time that the claim gives is enough.
    """
    if span.message.language not in list_languages("evidence_cues"):
        return True
    messages = [*view.list_before(span.message)[-1:], span.message]
    cue_words = get_span_cue_words(span)
    return any(cue_words.named_time.search(fold_characters(message.text)) for message in messages)


def is_refused(span: QuoteSpan, view: SegmentView) -> bool:
    """Return whether the person's next message refuses the promise."""
    after = view.list_after(span.message)
    answer = next((each for each in after if each.trust == "person"), None)
    if answer is None:
        return False
    return get_cue_words(answer.language).refused.search(fold_characters(answer.text)) is not None


OWN_WORDS_CHECKS: Final[Mapping[OwnWordsRule, OwnWordsCheck]] = {
    "promise": check_promise,
    "view": check_own_view,
}
"""The check of each rule, which returns why a claim does not hold."""
