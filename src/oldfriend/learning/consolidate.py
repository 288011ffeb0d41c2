"""Consolidation: turns a segment into beliefs: extract, validate, resolve, then commit once.

Each generation of a segment is consumed once: a second worker finds it done. No transaction is open
while a model is called; its output is resolved again if something has changed meanwhile.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Clock, Micros, is_misdated
from oldfriend.domain.errors import AllowanceUsedUp, LeaseLost, StaleDecision
from oldfriend.domain.ids import MessageId, ObjectId, SegmentId, SummaryId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Evidence, StoredBelief, Summary
from oldfriend.domain.messages import DATED, Message
from oldfriend.learning.asked_tasks import drop_asked
from oldfriend.learning.batch_reading import BatchReading, read_batch
from oldfriend.learning.dedup import ClaimMatches, UnclearPair, match_claims
from oldfriend.learning.earlier_reading import drop_read_by_model, list_stale_ids, list_withdrawn
from oldfriend.learning.extraction import (
    SMALL_TALK_KINDS,
    Claim,
    Extraction,
    ExtractionInput,
    Quote,
)
from oldfriend.learning.quote_selection import add_follow_up_quotes, select_quotes
from oldfriend.learning.resolution import (
    Resolution,
    ResolutionState,
    resolve_extraction,
    resolve_unconfirmed,
    withdraw_learned,
)
from oldfriend.learning.rule_extraction.ended_states import build_termination
from oldfriend.learning.rule_extraction.simple_statements import (
    parse_new_role,
    parse_plain_statement,
)
from oldfriend.learning.segment_loader import SegmentContext, load_segment_context
from oldfriend.learning.similarity import ClaimOrMemory
from oldfriend.learning.small_talk import is_small_talk
from oldfriend.learning.tagged_facts import TAGGER_AUTHOR
from oldfriend.learning.validate import (
    ValidatedExtraction,
    has_companion_view,
    validate_extraction,
)
from oldfriend.llm.embedding import Vectors
from oldfriend.llm.glosses import TextInLanguage
from oldfriend.memory.deletion.tombstones import format_belief_words, format_quote_keys
from oldfriend.memory.derived_evidence import cascade_retraction, rederive_evidence
from oldfriend.memory.evidence import add_evidence, withdraw_evidence
from oldfriend.memory.expiry import expire_unconfirmed
from oldfriend.memory.index_cache import IndexCache
from oldfriend.memory.journal import (
    Provenance,
    get_memory_version,
    list_segment_journal,
    record_decision,
)
from oldfriend.memory.mood import set_mood
from oldfriend.memory.people import lock_person
from oldfriend.memory.retraction import end_summaries, end_unsupported_beliefs, revert_stale_endings
from oldfriend.memory.segments import (
    UNREAD_STATUSES,
    Segment,
    SegmentStatus,
    find_segment,
    set_segment_status,
)
from oldfriend.memory.vectors import save_belief_vectors
from oldfriend.search.tokenizer import tokenize
from oldfriend.turn.intent import split_sentences

IsForgotten: TypeAlias = Callable[[str, Micros], bool]
"""Whether words extracted from what was said at a time were deleted afterwards."""

Extractor: TypeAlias = Callable[[ExtractionInput], Awaitable[Extraction]]
TextEmbedder: TypeAlias = Callable[[Sequence[TextInLanguage]], Awaitable[Vectors | None]]
DuplicateJudge: TypeAlias = Callable[[ClaimOrMemory, ClaimOrMemory, str, str], Awaitable[bool]]
"""Whether two statements say the same; a claim is in the given language."""

MAX_ATTEMPTS: Final = 3
"""How many times a resolution is attempted when something has changed meanwhile."""


MAX_JUDGED_PAIRS: Final = 12
"""Unclear pairs of one segment that a model is asked about; the rest count as different."""


NONE_ANSWERS: Final = [
    ["none"],
    ["no"],
    ["nothing"],
    ["n"],
    ["ninguno"],
    ["ninguna"],
    ["nada"],
    ["keine"],
    ["keiner"],
    ["nichts"],
    ["aucun"],
    ["rien"],
    ["non"],
    ["无"],
    ["没"],
]
"""First words of an answer that says that no emotional peak was missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationDeps:
    """Dependencies of consolidation."""

    db: Database
    index_cache: IndexCache
    clock: Clock
    extract: Extractor
    extract_small_talk: Extractor  # calls no model
    embed: TextEmbedder
    embedder: str  # name of the embedding model
    judge_duplicate: DuplicateJudge | None = None  # None: unclear pairs count as different
    is_forgotten: IsForgotten = field(default=lambda _words, _at: False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationResult:
    """Result of consolidating one segment."""

    segment: Segment
    outcome: Mapping[str, JsonValue]  # counts: learned by kind, joined, refused, missed peaks


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedReading:
    """A checked reading, and what it withdraws of earlier ones."""

    extraction: Extraction
    matches: ClaimMatches
    outcome: Mapping[str, JsonValue]
    withdrawn: Sequence[Evidence]


async def consolidate(
    deps: ConsolidationDeps, segment: Segment, batch: BatchReading | None = None
) -> ConsolidationResult | None:
    """Consolidate a segment; None if another worker has consolidated it meanwhile.

    What a ``batch`` has found in it is used if it has not changed since. Raises what extraction
    raises, and StaleDecision if something keeps changing; then nothing is written.
    """
    extracted_from: SegmentContext | None = None
    extraction = Extraction(author="")
    for tries_left in reversed(range(MAX_ATTEMPTS)):
        context = await load_context_if_unread(deps, segment)
        if context is None:
            return None
        found = None if batch is None else batch.find(context)
        if batch is not None and found is not None:
            context = batch.with_shown(context)
        if extracted_from is None or not context.has_same_input(extracted_from):
            extracted_from, extraction = context, await extract(deps, context.inputs, found)
        try:
            used = None if found is None else batch
            return await resolve_and_write(deps, context, extraction, used)
        except StaleDecision:
            if not tries_left:
                raise
    raise AssertionError("unreachable")


async def consolidate_together(
    deps: ConsolidationDeps, segments: Sequence[Segment]
) -> dict[SegmentId, ConsolidationResult | Exception | None]:
    """Consolidate segments that a model reads in one call; a failure concerns one of them only.

    Raises what reading them together raises, LeaseLost and AllowanceUsedUp.
    """
    contexts = [await load_context_if_unread(deps, each) for each in segments]
    unread = [
        each for each in contexts if each is not None and would_use_model(each.inputs.messages)
    ]
    batch = await read_batch(deps.extract, unread) if len(unread) > 1 else None
    results: dict[SegmentId, ConsolidationResult | Exception | None] = {}
    for segment in segments:
        try:
            results[segment.id] = await consolidate(deps, segment, batch)
        except (LeaseLost, AllowanceUsedUp):
            raise
        except Exception as error:
            results[segment.id] = error
    return results


async def extract(
    deps: ConsolidationDeps, inputs: ExtractionInput, found: Extraction | None = None
) -> Extraction:
    """Extract claims; from small talk only what the companion thinks, and no summary.

    Whatever else a model reads into small talk is mostly more than was said. ``found`` is what a
    model has extracted already.
    """
    if not is_small_talk(inputs.messages):
        return found or await deps.extract(inputs)
    if has_companion_view(inputs.messages):
        found = found or await deps.extract(inputs)
        if claims := tuple(each for each in found.claims if each.kind in SMALL_TALK_KINDS):
            return Extraction(author=found.author, claims=claims, self_check=found.self_check)
    return await deps.extract_small_talk(inputs)


def would_use_model(messages: Sequence[Message]) -> bool:
    """Return whether a model is asked about these messages, if there is one."""
    return not is_small_talk(messages) or has_companion_view(messages)


async def load_context_if_unread(
    deps: ConsolidationDeps, segment: Segment
) -> SegmentContext | None:
    """Load what is needed to consolidate a segment; None if it needs no consolidation any more."""
    async with deps.db.begin_read() as tx:
        row = await find_segment(tx, segment.person, segment.id)
        if row is None or row.status not in UNREAD_STATUSES:
            return None
        return await load_segment_context(tx, row, index_cache=deps.index_cache, now=deps.clock())


async def resolve_and_write(
    deps: ConsolidationDeps,
    context: SegmentContext,
    extraction: Extraction,
    batch: BatchReading | None,
) -> ConsolidationResult:
    """Validate and resolve what was extracted, and write the result."""
    extraction = drop_read_by_model(extraction, context.earlier)
    extraction = await drop_asked(deps.db, context.inputs.messages, extraction)
    if not extraction.is_by_model:
        async with deps.db.begin_read() as tx:
            extraction = await select_quotes(tx, deps.index_cache, context, extraction)
            extraction = await add_follow_up_quotes(tx, deps.index_cache, context, extraction)
    checked = await asyncio.to_thread(
        validate_extraction,
        extraction,
        context.inputs,
        summarized=None if batch is None else batch.inputs,
        claims_beside=() if batch is None else batch.list_claims_beside(context.segment.id),
    )
    messages = context.inputs.messages
    checked = drop_forgotten(checked, messages, deps.is_forgotten, deps.clock())
    unconfirmed = [each.claim for each in checked.unconfirmed]
    claims = [*checked.extraction.claims, *unconfirmed]
    vectors = await deps.embed([(claim.text, context.resolution.language) for claim in claims])
    matches = match_claims(claims, context, vectors, embedder=deps.embedder)
    if deps.judge_duplicate is not None:
        pairs = [
            each
            for each in list_undecided_pairs(matches, context, batch)
            if each.claim not in unconfirmed and each.other not in unconfirmed
        ]
        await judge_unclear_pairs(matches, pairs, deps.judge_duplicate, context.inputs)
    withdrawn = list_withdrawn(context.earlier, checked.extraction)
    state = ResolutionState(
        context=replace(context.resolution, stale=list_stale_ids(context.earlier, withdrawn)),
        believed=context.known,
        entities={each.id: each for each in context.entities},
        bases=context.bases,
        is_same=matches.is_same,
        parse_plain_statement=lambda each: parse_plain_statement(each.text, each.language),
        parse_new_role=lambda each: parse_new_role(each.text, each.language),
        build_termination=build_termination,
    )
    resolve_extraction(state, checked.extraction)
    withdraw_learned(state, checked.extraction.claims)
    resolve_unconfirmed(state, unconfirmed, context.earlier.list_kept_evidence(withdrawn))
    outcome = count_outcome(state, checked)
    outcome["small_talk"] = int(is_small_talk(messages))
    decided = DecidedReading(
        extraction=checked.extraction, matches=matches, outcome=outcome, withdrawn=withdrawn
    )
    await write_resolution(deps, context, state, decided, batch)
    return ConsolidationResult(segment=context.segment, outcome=outcome)


def list_undecided_pairs(
    matches: ClaimMatches, context: SegmentContext, batch: BatchReading | None
) -> list[UnclearPair]:
    """Return the unclear pairs of which the reading itself has not said whether they are the same.

    A claim that names what it bears on says so of everything, and a new one of all that the model
    was shown, or has read with it.
    """
    read = context if batch is None else batch.contexts[context.segment.id]
    shown = {each.memory.id for each in (batch.inputs if batch else read.inputs).shown}
    unseen = {each.memory.id for each in read.known} - shown
    inactive = {each.id for each in (*context.resolution.rejected, *context.resolution.merged)}

    def is_undecided(pair: UnclearPair) -> bool:
        other = pair.other
        if pair.claim.effect != "new":
            return False
        if isinstance(other, Claim):
            return bool(set(pair.claim.quotes) & set(other.quotes))
        return other.id in inactive | unseen

    return list(filter(is_undecided, matches.unclear_pairs))


async def judge_unclear_pairs(
    matches: ClaimMatches,
    pairs: Sequence[UnclearPair],
    judge_duplicate: DuplicateJudge,
    inputs: ExtractionInput,
) -> None:
    """Ask a model which of some unclear pairs say the same."""
    zone = inputs.messages[0].zone
    for pair in pairs[:MAX_JUDGED_PAIRS]:
        if await judge_duplicate(pair.claim, pair.other, inputs.language, zone):
            matches.confirm_match(pair)


async def write_resolution(
    deps: ConsolidationDeps,
    context: SegmentContext,
    state: ResolutionState,
    decided: DecidedReading,
    batch: BatchReading | None,
) -> None:
    """Write all decisions in one transaction.

    Raises StaleDecision, and writes nothing, if anything was decided or deleted since the context
    was loaded: what is new would otherwise be learned beside what is known.
    """
    segment, now = context.segment, deps.clock()
    extraction = decided.extraction
    provenance = Provenance(author=extraction.author, segment=segment.id)
    async with deps.db.begin_write() as tx:
        await lock_person(tx, segment.person)
        if await get_memory_version(tx, segment.person) != context.revision:
            raise StaleDecision(f"Something was decided while segment {segment.id} was read.")
        is_trivial = not state.decisions and is_small_talk(context.inputs.messages)
        status: SegmentStatus = "trivial" if is_trivial else "done"
        if not await set_segment_status(
            tx, segment, status, author=extraction.author, outcome=decided.outcome, now=now
        ):
            raise StaleDecision(f"Segment {segment.id} was changed while it was being read.")
        await set_mood(tx, segment, extraction.mood)
        earlier = await list_segment_journal(tx, segment.person, segment.id)
        await end_earlier_summaries(tx, segment, provenance, now=now)
        affected = await withdraw_evidence(tx, segment.person, decided.withdrawn, now=now)
        for decision in state.decisions.values():
            author = choose_author(decision, extraction)
            await write_decision(tx, segment, decision, author=author, now=now)
        await rederive_evidence(tx, segment.person, affected, now=now)
        await end_unsupported_beliefs(
            tx, segment.person, provenance=provenance, now=now, only_ids=affected
        )
        if segment.generation > 1:
            await revert_stale_endings(
                tx,
                earlier,
                reader=extraction.reader,
                kept=context.earlier.list_kept_versions(decided.withdrawn),
                provenance=provenance,
                now=now,
            )
            await cascade_retraction(tx, segment.person, now=now)
        if extraction.summary:
            read = [segment] if batch is None else [e.segment for e in batch.contexts.values()]
            summary = build_summary(read, state, extraction, now=now)
            await record_decision(tx, summary, op="learned", base=0, provenance=provenance, now=now)
        await expire_unconfirmed(tx, segment.person, now=now)
        vectors = decided.matches.get_vectors(state.decisions.values())
        await save_belief_vectors(tx, segment.person, deps.embedder, vectors)


def choose_author(decision: Resolution, extraction: Extraction) -> str:
    """Return who is named for a decision: of a quote without a model, the tagger that found it."""
    memory = decision.after
    is_tagged = (
        isinstance(memory, StoredBelief) and memory.is_quoted_fact and not extraction.is_by_model
    )
    return TAGGER_AUTHOR if is_tagged else extraction.author


async def write_decision(
    tx: Transaction, segment: Segment, decision: Resolution, *, author: str, now: Micros
) -> None:
    """Write one decision and its evidence."""
    provenance = Provenance(author=author, segment=segment.id, causes=decision.causes)
    if decision.op is not None:
        await record_decision(
            tx, decision.after, op=decision.op, base=decision.base, provenance=provenance, now=now
        )
    if decision.evidence:
        await add_evidence(
            tx,
            segment.person,
            decision.after.id,
            decision.evidence,
            extractor=author,
            now=now,
            segment=segment.id,
        )


async def end_earlier_summaries(
    tx: Transaction, segment: Segment, provenance: Provenance, *, now: Micros
) -> None:
    """End an earlier generation's summaries."""
    if segment.generation > 1:
        await end_summaries(tx, segment.person, [segment.id], provenance=provenance, now=now)


def build_summary(
    segments: Sequence[Segment], state: ResolutionState, extraction: Extraction, *, now: Micros
) -> Summary:
    """Build the level-1 summary of the segments that were read together."""
    return Summary(
        id=SummaryId(ObjectId(new_id(now))),
        person=segments[0].person,
        level=1,
        text=extraction.summary,
        language=state.context.language,
        topics=extraction.topics,
        segments=tuple(each.id for each in segments),
        from_at=min(each.from_at for each in segments),
        until_at=max(each.until_at for each in segments),
        learned_at=now,
    )


def count_outcome(state: ResolutionState, checked: ValidatedExtraction) -> dict[str, JsonValue]:
    """Count the outcome of a segment for its status row."""
    learned: Counter[str] = Counter()
    joined_count = 0
    unconfirmed_count = 0
    for decision in state.decisions.values():
        if decision.op == "learned":
            kind = decision.after.kind if isinstance(decision.after, StoredBelief) else "entity"
            learned[kind] += 1
        elif decision.op == "proposed":
            unconfirmed_count += 1
        elif decision.evidence:
            joined_count += 1
    refusals: dict[str, JsonValue] = {str(reason): n for reason, n in state.rejected.items()}
    rejections: dict[str, JsonValue] = {str(reason): n for reason, n in checked.rejected.items()}
    return {
        "learned": dict(learned),
        "joined": joined_count,
        "unconfirmed": unconfirmed_count,
        "rejected": rejections,
        "refused": refusals,
        "missed_peak": int(has_missed_peak(checked.extraction)),
    }


def has_missed_peak(extraction: Extraction) -> bool:
    """Return whether the model's self-check found an emotional peak that no event covers."""
    found = split_sentences(extraction.self_check.get("missed_peak", ""))
    return any(tokenize(sentence)[:1] not in NONE_ANSWERS for sentence in found)


def drop_forgotten(
    checked: ValidatedExtraction,
    messages: Iterable[Message],
    is_forgotten: IsForgotten,
    now: Micros,
) -> ValidatedExtraction:
    """Drop the claims and relations that were deleted and not said again since.

    A date ahead does not show that something was said again.
    """
    said_at = {
        each.id: 0 if is_misdated(each.at, now) or DATED in each.details else each.at
        for each in messages
    }

    def is_kept(claim: Claim) -> bool:
        return not is_claim_forgotten(claim, said_at, is_forgotten)

    extraction = checked.extraction
    return replace(
        checked,
        extraction=replace(
            extraction,
            claims=tuple(filter(is_kept, extraction.claims)),
            relations=tuple(each for each in extraction.relations if is_kept(each.claim)),
        ),
        unconfirmed=tuple(each for each in checked.unconfirmed if is_kept(each.claim)),
    )


def is_claim_forgotten(
    claim: Claim, said_at: Mapping[MessageId, Micros], is_forgotten: IsForgotten
) -> bool:
    """Return whether the content of a claim was deleted after it was last said."""
    last_said_at = max((said_at.get(each.message, 0) for each in claim.quotes), default=0)
    belief_words = format_belief_words(claim.kind, claim.key, claim.value)
    return (
        is_forgotten(claim.text, last_said_at)
        or (bool(belief_words) and is_forgotten(belief_words, last_said_at))
        or (
            bool(claim.quotes)
            and all(is_quote_forgotten(claim, each, said_at, is_forgotten) for each in claim.quotes)
        )
    )


def is_quote_forgotten(
    claim: Claim, quote: Quote, said_at: Mapping[MessageId, Micros], is_forgotten: IsForgotten
) -> bool:
    """Return whether a belief of this kind and key on this quote was deleted afterwards."""
    at = said_at.get(quote.message, 0)
    quote_keys = format_quote_keys(claim.kind, claim.key, quote.text, said_at=at)
    return any(is_forgotten(words, at) for words in quote_keys)
