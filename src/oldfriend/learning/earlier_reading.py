"""Earlier reading: what a new reading of the same conversation withdraws of it, and what stays.

A weaker reader withdraws nothing that a stronger one has found in words that still stand. What a
model leaves out stays too, unless it says something else of the same words: it is shown what is
known, and does not tell that anew.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, TypeVar

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import MessageId, ObjectId, SegmentId
from oldfriend.domain.memories import Evidence, MemoryState, StoredBelief, Summary
from oldfriend.domain.messages import Message
from oldfriend.learning.doubt import is_doubtful, is_foreign, is_unreal
from oldfriend.learning.extraction import (
    Claim,
    EntityMention,
    Extraction,
    RelationClaim,
    SameAsClaim,
)
from oldfriend.learning.quote_overlap import do_words_overlap
from oldfriend.memory.consolidation_undo import list_standing_decisions
from oldfriend.memory.evidence import list_segment_evidence
from oldfriend.memory.journal import list_segment_journal
from oldfriend.memory.readers import ReaderKind, find_reader
from oldfriend.memory.segments import Segment, list_segment_messages
from oldfriend.search.shared_topics import extract_content_terms

MIN_REPEATED: Final = 0.5
"""Share of a belief's terms in claims from the same words by which it has been read otherwise."""

Quoting = TypeVar("Quoting", Claim, RelationClaim, EntityMention, SameAsClaim)


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierReading:
    """What earlier readings of a segment have found."""

    segment: SegmentId
    evidence: Mapping[ObjectId, Sequence[Evidence]] = field(default_factory=dict)
    """All live evidence of the beliefs for which the segment has some."""
    memories: Mapping[ObjectId, StoredBelief] = field(default_factory=dict)  # of these beliefs
    messages: Mapping[MessageId, Message] = field(default_factory=dict)  # as they read now
    read_by_model: frozenset[MessageId] = frozenset()  # messages that a model has read as they are

    def is_withdrawable(self, evidence: Evidence, reader: ReaderKind) -> bool:
        """Return whether a reader may withdraw evidence: an equal's or a weaker one's, or outdated.

        What rests on words that a model has read only a model may withdraw. What was copied from
        other evidence is withdrawn with it, and copied again.
        """
        if evidence.segment != self.segment:
            return False
        found_by = find_reader(evidence.extractor)
        if found_by is None or self.is_outdated(evidence):
            return True
        is_settled = reader < ReaderKind.MODEL and evidence.message in self.read_by_model
        return found_by <= reader and not is_settled

    def is_outdated(self, evidence: Evidence) -> bool:
        """Return whether a message has been edited on which a belief rests, here or beside it."""
        return any(
            each.segment == self.segment and self.get_version(each.message) != each.version
            for each in self.evidence.get(evidence.object_id, ())
        )

    def get_version(self, message_id: MessageId) -> int | None:
        """Return the current version of a message; None if it is not in the segment any more."""
        found = self.messages.get(message_id)
        return None if found is None else found.version

    def list_kept_versions(self, withdrawn: Iterable[Evidence]) -> set[tuple[MessageId, int]]:
        """Return the message versions on which something rests that this segment has found."""
        kept = self.list_kept_evidence(withdrawn)
        return {(each.message, each.version) for each in kept if each.segment == self.segment}

    def list_kept_evidence(self, withdrawn: Iterable[Evidence]) -> list[Evidence]:
        """Return the evidence without what is withdrawn."""
        ids = {each.id for each in withdrawn}
        return [each for each in chain.from_iterable(self.evidence.values()) if each.id not in ids]


async def load_earlier_reading(
    tx: Transaction, segment: Segment, messages: Sequence[Message], known: Iterable[MemoryState]
) -> EarlierReading:
    """Load what earlier readings of a segment have found; ``known`` are the person's beliefs."""
    if segment.generation == 1:
        return EarlierReading(segment=segment.id)
    evidence = await list_segment_evidence(tx, segment.person, segment.id)
    decided = await list_segment_journal(tx, segment.person, segment.id)
    learned = [each for each in decided if not isinstance(each.after, Summary)]
    by_model = [each for each in learned if find_reader(each.author) is ReaderKind.MODEL]
    standing = await list_standing_decisions(tx, segment.person, segment.id)
    standing_at = [each.decided_at for each in standing if each in by_model]
    read: Sequence[Message] = ()
    if standing_at:
        read = await list_segment_messages(tx, segment, written_until=max(standing_at))
    elif not by_model and find_reader(segment.author or "") is ReaderKind.MODEL:
        # It has learned nothing that is left.
        read = [each for each in messages if each.version == 1]
    return EarlierReading(
        segment=segment.id,
        evidence=evidence,
        memories={each.memory.id: each.memory for each in known if each.memory.id in evidence},
        messages={each.id: each for each in messages},
        read_by_model=frozenset(each.id for each in read),
    )


def drop_read_by_model(extraction: Extraction, earlier: EarlierReading) -> Extraction:
    """Return what rules have extracted without what rests on words that a model has read."""
    if extraction.is_by_model or not earlier.read_by_model:
        return extraction
    read = earlier.read_by_model
    return replace(
        extraction,
        claims=tuple(iterate_unread(extraction.claims, read)),
        relations=tuple(iterate_unread(extraction.relations, read)),
        mentions=tuple(iterate_unread(extraction.mentions, read)),
        same_as_claims=tuple(iterate_unread(extraction.same_as_claims, read)),
    )


def iterate_unread(items: Iterable[Quoting], read: Collection[MessageId]) -> Iterator[Quoting]:
    """Yield the items that rest on a message that was not read."""
    return (each for each in items if any(quote.message not in read for quote in each.quotes))


def list_withdrawn(earlier: EarlierReading, extraction: Extraction) -> list[Evidence]:
    """Return the evidence that a new reading withdraws."""
    reader = extraction.reader
    return [
        each
        for each in chain.from_iterable(earlier.evidence.values())
        if earlier.is_withdrawable(each, reader) and not is_left_out(each, earlier, extraction)
    ]


def list_stale_ids(earlier: EarlierReading, withdrawn: Collection[Evidence]) -> frozenset[ObjectId]:
    """Return the beliefs that rest only on what is withdrawn, and that the person has not made."""
    ids = {each.id for each in withdrawn}
    return frozenset(
        object_id
        for object_id, pieces in earlier.evidence.items()
        if all(each.id in ids for each in pieces)
        and not ((memory := earlier.memories.get(object_id)) and memory.is_by_person)
    )


def is_left_out(evidence: Evidence, earlier: EarlierReading, extraction: Extraction) -> bool:
    """Return whether a model says nothing of what is known of a message, and so keeps it.

    What rules have found in words that look borrowed, joking or unreal today is not kept.
    """
    found_by = find_reader(evidence.extractor)
    if not extraction.is_by_model or found_by is None or earlier.is_outdated(evidence):
        return False
    message = earlier.messages[evidence.message]
    if (memory := earlier.memories.get(evidence.object_id)) is None:
        return True  # a name, which states nothing
    if found_by < ReaderKind.MODEL and is_misleading(message, memory):
        return False
    claims = (*extraction.claims, *(each.claim for each in extraction.relations))
    return not is_repeated(
        memory,
        [
            each
            for each in claims
            if any(
                quote.message == message.id
                and do_words_overlap(message.text, quote.text, evidence.quote)
                for quote in each.quotes
            )
        ],
    )


def is_misleading(message: Message, memory: StoredBelief) -> bool:
    """Return whether words look today as if rules should not have believed them."""
    if memory.is_quoted_fact:
        return is_doubtful(message)
    return is_foreign(message) or is_unreal(message)


def is_repeated(memory: StoredBelief, claims: Sequence[Claim]) -> bool:
    """Return whether claims from the same words say what a belief says, or in its place."""
    if memory.is_quoted_fact or not claims:
        return bool(claims)
    told = {each: list_claim_terms(each, memory.language) for each in claims}
    value = extract_content_terms(memory.value, memory.language)
    if any(
        (each.kind, each.key) == (memory.kind, memory.key) and not value.isdisjoint(terms)
        for each, terms in told.items()
    ):
        return True
    terms = extract_content_terms(f"{memory.text} {memory.value}", memory.language)
    return len(terms & frozenset().union(*told.values())) >= MIN_REPEATED * len(terms)


def list_claim_terms(claim: Claim, language: str) -> frozenset[int]:
    """Return the content terms of a claim."""
    return extract_content_terms(f"{claim.text} {claim.value}", language)
