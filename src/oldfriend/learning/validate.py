"""Validation: runs every check on each extracted claim and counts the rejected ones.

What a model has read and is only in doubt is not believed and not lost: it waits for the person's
word. Everything else applies equally to claims from a model and from rules. Pure; whether a claim
is already known and what follows from it is decided in ``resolution``.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import ne
from typing import Final, Protocol, TypeVar

from oldfriend.domain.belief_kinds import BELIEF_KINDS, KINDS_BY_NAME
from oldfriend.domain.ids import MessageId
from oldfriend.domain.memories import QUOTE_KEY, MemoryKind
from oldfriend.learning.doubt import has_doubtful_words, is_borrowed, is_doubtful_quote
from oldfriend.learning.extraction import Claim, Extraction, ExtractionInput, Quote
from oldfriend.learning.validation.coverage import check_coverage, check_value_cited
from oldfriend.learning.validation.entity_names import validate_mention, validate_same_as
from oldfriend.learning.validation.evidence_checks import validate_evidence
from oldfriend.learning.validation.grounding import (
    NO_TARGET,
    check_change,
    check_numbers,
    check_overrule,
    check_termination,
    check_topic,
)
from oldfriend.learning.validation.irony_and_refusal import (
    check_habit,
    check_irony,
    check_refusal,
)
from oldfriend.learning.validation.normalization import (
    finalize_claim,
    list_normalizations,
    normalize_claim,
)
from oldfriend.learning.validation.polarity import check_polarity
from oldfriend.learning.validation.quote_alignment import QuoteSpan, align_quote
from oldfriend.learning.validation.rejection_reasons import (
    REASONS_FOR_DOUBT,
    NormalizationKind,
    RejectionReason,
)
from oldfriend.learning.validation.relation_checks import validate_relation
from oldfriend.learning.validation.safety import (
    check_prompt_injection,
    check_secret,
    filter_safe,
    remove_unsafe_sentences,
)
from oldfriend.learning.validation.schema_checks import (
    CATEGORIES,
    check_key,
    check_kind,
    check_ranges,
    check_target,
    check_times,
    check_value,
)
from oldfriend.learning.validation.segment_view import (
    SegmentView,
    ValidationCase,
    build_segment_view,
)
from oldfriend.learning.validation.sentiment import (
    has_companion_view,
    has_opposite_impact,
)
from oldfriend.learning.validation.summary_checks import (
    DoubtedWords,
    drop_doubted,
    drop_unattributed,
)
from oldfriend.learning.validation.text_quality import (
    check_confidence,
    check_length,
    check_measurement,
    check_pronouns,
    check_single_occurrence,
    is_prose,
)

__all__ = ["ValidatedExtraction", "has_companion_view", "validate_extraction"]

ClaimCheck = Callable[[ValidationCase], RejectionReason | None]


CLAIM_CHECKS: Final[Sequence[ClaimCheck]] = (
    check_secret,
    check_kind,
    check_ranges,
    check_key,
    check_value,
    check_times,
    check_target,
    check_length,
    check_pronouns,
    check_confidence,
    check_measurement,
    check_single_occurrence,
    check_prompt_injection,
    check_irony,
    check_refusal,
    check_value_cited,
    check_change,
    check_overrule,
    check_termination,
    check_topic,
    check_numbers,
    check_habit,
)
"""Each returns a reason against a claim, or None."""

MODEL_CLAIM_CHECKS: Final[Sequence[ClaimCheck]] = (*CLAIM_CHECKS, check_coverage, check_polarity)
"""Model claims must also be covered by their quotes; rules build claims from the words."""

VERBATIM_CHECKS: Final[Sequence[ClaimCheck]] = (check_kind, check_target, check_prompt_injection)
"""A corrected note stays in the person's words, whatever they are."""

QUOTE_CHECKS: Final[Sequence[ClaimCheck]] = (
    check_secret,
    check_kind,
    check_ranges,
    check_target,
    check_length,
    check_prompt_injection,
    check_irony,
    check_refusal,
)
"""A fact in the person's words says no more than they did; whether they meant it is learned."""

MAX_TOPICS: Final = 6
MAX_TOPIC_LENGTH: Final = 60
MAX_SUMMARY_LENGTH: Final = 2_000
MAX_UNCONFIRMED: Final = 6
"""Claims in doubt of one conversation that wait for the person's word."""
MAX_UNCONFIRMED_PER_MESSAGE: Final = 2
"""The same of one message, lest a long paste bury what the person has said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnconfirmedClaim:
    """A claim in the person's words that is in doubt, and why."""

    claim: Claim
    reason: RejectionReason


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedExtraction:
    """Validated extraction: what passed, what waits, and counts of what was rejected or changed.

    What waits counts as rejected, too, for the reason for which it is in doubt.
    """

    extraction: Extraction
    unconfirmed: tuple[UnconfirmedClaim, ...] = ()
    rejected: Counter[RejectionReason]
    normalized: Counter[NormalizationKind]


class HasQuotes(Protocol):
    """Protocol of anything that rests on quotes."""

    @property
    def quotes(self) -> tuple[Quote, ...]: ...


Q = TypeVar("Q", bound=HasQuotes)


def validate_extraction(
    extraction: Extraction,
    inputs: ExtractionInput,
    *,
    summarized: ExtractionInput | None = None,
    claims_beside: Sequence[Claim] = (),
) -> ValidatedExtraction:
    """Return only what may be believed of an extraction, with exact quotes.

    ``summarized`` is what the summary is of, if it is of more than this segment, and
    ``claims_beside`` are what was read in the rest of it: what is in doubt of them is not
    summarized either.
    """
    view = build_segment_view(inputs, extraction.mentions)
    summary_view = view if summarized is None else build_segment_view(summarized)
    rejected: Counter[RejectionReason] = Counter()
    changed: Counter[NormalizationKind] = Counter()
    claims = []
    unconfirmed = []
    checks = MODEL_CLAIM_CHECKS if extraction.is_by_model else CLAIM_CHECKS

    def is_sure(span: QuoteSpan) -> bool:
        return not (extraction.is_by_model and is_doubtful_quote(span, view))

    def is_own(span: QuoteSpan) -> bool:
        return not (extraction.is_by_model and is_borrowed(span.message))

    categorized = {
        (claim.text, claim.value) for claim in extraction.claims if has_known_category(claim)
    }
    for claim in extraction.claims:
        is_repeated = not has_known_category(claim) and (claim.text, claim.value) in categorized
        outcome: Claim | UnconfirmedClaim | RejectionReason = (
            "repeats itself" if is_repeated else validate_claim(claim, view, checks)
        )
        if isinstance(outcome, str):
            rejected[outcome] += 1
        elif isinstance(outcome, UnconfirmedClaim):
            unconfirmed.append(outcome)
        else:
            claims.append(outcome)
            changed.update(list_normalizations(claim, outcome))
    neutral = neutralize_conflicting_impacts(claims, view.language)
    changed["impact"] += sum(map(ne, neutral, claims))
    kept = drop_excess(neutral)
    waiting = select_unconfirmed(unconfirmed)
    rejected.update(each.reason for each in waiting)
    rejected["too many"] += len(neutral) - len(kept) + len(unconfirmed) - len(waiting)
    doubted = gather_doubted(
        [
            *unconfirmed,
            *kept,
            *(validate_claim(each, summary_view, checks) for each in claims_beside),
        ],
        summary_view,
    )
    valid = replace(
        extraction,
        claims=tuple(kept),
        relations=tuple(
            iter_valid(extraction.relations, validate_relation, view, rejected, is_sure=is_sure)
        ),
        mentions=tuple(
            iter_valid(extraction.mentions, validate_mention, view, rejected, is_sure=is_own)
        ),
        same_as_claims=tuple(
            iter_valid(extraction.same_as_claims, validate_same_as, view, rejected, is_sure=is_sure)
        ),
        topics=clean_topics(extraction, doubted, summary_view),
        summary=clean_summary(extraction, doubted, summary_view),
    )
    rejected["malformed"] += extraction.malformed
    changed["summary"] += valid.summary != extraction.summary
    return ValidatedExtraction(
        extraction=valid,
        unconfirmed=waiting,
        rejected=+rejected,
        normalized=+changed,
    )


def gather_doubted(
    outcomes: Iterable[Claim | UnconfirmedClaim | RejectionReason], view: SegmentView
) -> DoubtedWords:
    """Gather what is in doubt of some claims, beside what is believed."""
    outcomes = list(outcomes)
    return DoubtedWords(
        claims=[each.claim for each in outcomes if isinstance(each, UnconfirmedClaim)],
        believed=[
            *(each for each in outcomes if isinstance(each, Claim)),
            *view.known.values(),
        ],
    )


def has_known_category(claim: Claim) -> bool:
    """Return whether a claim's category is known, if it needs one."""
    return KINDS_BY_NAME[claim.kind].key != "category" or claim.key in CATEGORIES


def validate_claim(
    claim: Claim, view: SegmentView, checks: Sequence[ClaimCheck]
) -> Claim | UnconfirmedClaim | RejectionReason:
    """Return a claim as it may be believed or confirmed, or the first reason against it."""
    spans = align_quotes(claim.quotes, view)
    if isinstance(spans, str):
        return spans
    claim = normalize_claim(claim, view)
    supporting = validate_evidence(claim, spans, view)
    is_by_model = checks is MODEL_CLAIM_CHECKS
    if KINDS_BY_NAME[claim.kind].is_verbatim:
        checks = VERBATIM_CHECKS
    elif claim.key == QUOTE_KEY and not is_by_model:
        checks = QUOTE_CHECKS
    doubt: RejectionReason | None
    if isinstance(supporting, str):
        doubt = supporting
        case = ValidationCase(claim=claim, spans=spans, view=view)
    else:
        case = ValidationCase(claim=claim, spans=supporting, view=view)
        doubt = next(list_rejections(case, checks), None)
        if doubt is None and is_by_model and has_doubtful_words(case):
            doubt = "doubtful words"
    if doubt is None:
        return finalize_claim(keep_founded_wording(case, checks))
    may_wait = is_by_model and can_be_confirmed(case)
    return build_unconfirmed(case, checks, doubt) if may_wait else doubt


def list_rejections(
    case: ValidationCase, checks: Iterable[ClaimCheck]
) -> Iterator[RejectionReason]:
    """Yield the reasons against a claim."""
    return (rejection for check in checks if (rejection := check(case)) is not None)


def can_be_confirmed(case: ValidationCase) -> bool:
    """Return whether a claim that is in doubt says something new in the person's own words."""
    claim, kind = case.claim, KINDS_BY_NAME[case.claim.kind]
    is_new = claim.effect in {"new", "supersedes"} and claim.ended_claim is None
    is_persons = claim.subject != "companion" and not (kind.is_verbatim or kind.is_companions)
    return is_new and is_persons and any(each.message.trust == "person" for each in case.spans)


def build_unconfirmed(
    case: ValidationCase, checks: Sequence[ClaimCheck], doubt: RejectionReason
) -> UnconfirmedClaim | RejectionReason:
    """Return a claim that rests on the person's words only, or what no word of theirs can mend."""
    spans = tuple(each for each in case.spans if each.message.trust == "person")
    claim = replace(case.claim, effect="new", target=None)
    own = replace(case, claim=claim, spans=spans)
    reasons = [doubt, *list_rejections(own, checks)]
    impossible = next((each for each in reasons if each not in REASONS_FOR_DOUBT), None)
    return impossible or UnconfirmedClaim(claim=finalize_claim(own), reason=doubt)


def select_unconfirmed(claims: Iterable[UnconfirmedClaim]) -> tuple[UnconfirmedClaim, ...]:
    """Return a few claims that are in doubt, of each message fewer: first what no check refuses."""
    by_message: Counter[MessageId] = Counter()
    selected = []
    for each in sorted(claims, key=lambda each: each.reason != "doubtful words"):
        messages = {quote.message for quote in each.claim.quotes}
        if all(by_message[message] < MAX_UNCONFIRMED_PER_MESSAGE for message in messages):
            by_message.update(messages)
            selected.append(each)
    return tuple(selected[:MAX_UNCONFIRMED])


def keep_founded_wording(case: ValidationCase, checks: Sequence[ClaimCheck]) -> ValidationCase:
    """Return a claim that repeats a belief in that one's words, unless its own would pass alone."""
    claim, target = case.claim, case.view.known.get(case.claim.target or NO_TARGET)
    if claim.effect != "reinforces" or target is None or claim.text == target.text:
        return case
    alone = replace(case, claim=replace(claim, effect="new"))
    if all(check(alone) is None for check in checks):
        return case
    return replace(case, claim=replace(claim, text=target.text, value=target.value))


def align_quotes(
    quotes: Iterable[Quote], view: SegmentView
) -> tuple[QuoteSpan, ...] | RejectionReason:
    """Return the spans of all quotes, or why one of them was not found."""
    spans = []
    for quote in quotes:
        span = align_quote(quote, view.messages)
        if isinstance(span, str):
            return span
        spans.append(span)
    return tuple(spans) or "no quote"


def iter_valid(
    candidates: Iterable[Q],
    validate: Callable[[Q, tuple[QuoteSpan, ...], SegmentView], Q | RejectionReason],
    view: SegmentView,
    rejected: Counter[RejectionReason],
    *,
    is_sure: Callable[[QuoteSpan], bool],
) -> Iterator[Q]:
    """Yield valid mentions, same-as claims or relations, and count the rejected ones.

    In doubt they do not wait: a name or tie that matters is told again.
    """
    for each in candidates:
        spans = align_quotes(each.quotes, view)
        outcome: Q | RejectionReason
        if isinstance(spans, str):
            outcome = spans
        else:
            outcome = validate(each, spans, view)
            if not isinstance(outcome, str) and not all(map(is_sure, spans)):
                outcome = "doubtful words"
        if isinstance(outcome, str):
            rejected[outcome] += 1
        else:
            yield outcome


def drop_excess(claims: list[Claim]) -> list[Claim]:
    """Drop the weakest new claims of each kind beyond its limit."""
    for kind in BELIEF_KINDS:
        if kind.extraction is not None and kind.extraction.max_new is not None:
            claims = drop_weakest(claims, kind.name, kind.extraction.max_new)
    return claims


def drop_weakest(claims: list[Claim], kind: MemoryKind, limit: int) -> list[Claim]:
    """Drop the weakest new claims of a kind beyond its limit."""
    new = [each for each in claims if each.kind == kind and each.effect in {"new", "supersedes"}]
    by_weight = sorted(new, key=lambda each: (abs(each.impact), each.confidence), reverse=True)
    left_out = {id(each) for each in by_weight[limit:]}
    return [each for each in claims if id(each) not in left_out]


def neutralize_conflicting_impacts(claims: list[Claim], language: str) -> list[Claim]:
    """Set the impact of events to 0 that are claimed with both signs: then it is unknown."""
    events = [each for each in claims if each.kind == "event"]
    return [
        replace(each, impact=0)
        if each.kind == "event" and any(has_opposite_impact(each, o, language) for o in events)
        else each
        for each in claims
    ]


def clean_topics(
    extraction: Extraction, doubted: DoubtedWords, view: SegmentView
) -> tuple[str, ...]:
    """Return a few short and safe topics that are not in doubt."""
    short = (each for each in extraction.topics if len(each) <= MAX_TOPIC_LENGTH)
    safe = filter_safe(each for each in short if not doubted.are_meant_by(each, view.language))
    return tuple(safe)[:MAX_TOPICS]


def clean_summary(extraction: Extraction, doubted: DoubtedWords, view: SegmentView) -> str:
    """Return the summary without sentences that are unsafe, unattributed or in doubt."""
    summary = remove_unsafe_sentences(extraction.summary)[:MAX_SUMMARY_LENGTH].strip()
    summary = drop_unattributed(summary, view)
    summary = drop_doubted(summary, doubted, view)
    return summary if is_prose(summary) else ""
