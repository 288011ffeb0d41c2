"""Batch reading: has a model read several segments in one call, and sorts its claims by segment.

A claim belongs to the segments whose words it rests on, so that each is consolidated by itself.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Final, TypeVar

from oldfriend.domain.ids import MessageId, SegmentId
from oldfriend.learning.extraction import (
    Claim,
    EntityMention,
    Extraction,
    ExtractionInput,
    Quote,
    SameAsClaim,
)
from oldfriend.learning.segment_loader import MAX_SHOWN, SegmentContext
from oldfriend.learning.small_talk import is_small_talk
from oldfriend.memory.segments import Segment

MAX_BATCH_TOKENS: Final = 2_000
"""Tokens of messages that are read together: their claims fit into one answer."""
MAX_BATCH_SEGMENTS: Final = 40

Quoting = TypeVar("Quoting", EntityMention, SameAsClaim)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReading:
    """Batch reading: what a model has found in segments that it read together."""

    contexts: Mapping[SegmentId, SegmentContext]  # as they were read, oldest first
    inputs: ExtractionInput  # of all of them
    extractions: Mapping[SegmentId, Extraction]

    def find(self, context: SegmentContext) -> Extraction | None:
        """Return what was found in a segment; None if it was not read, or has changed since."""
        read = self.contexts.get(context.segment.id)
        if read is None or not context.has_same_input(read):
            return None
        return self.extractions[context.segment.id]

    def list_claims_beside(self, segment: SegmentId) -> list[Claim]:
        """Return the claims of all other segments if the summary of all is kept with this one."""
        if not self.extractions[segment].summary:
            return []
        return [
            claim
            for other, extraction in self.extractions.items()
            if other != segment
            for claim in extraction.claims
        ]

    def with_shown(self, context: SegmentContext) -> SegmentContext:
        """Return a context with the beliefs that the model was shown."""
        return replace(context, inputs=replace(context.inputs, shown=self.inputs.shown))


async def read_batch(
    extract: Callable[[ExtractionInput], Awaitable[Extraction]],
    contexts: Sequence[SegmentContext],
) -> BatchReading:
    """Have several segments read in one call. Raises what extraction raises."""
    parts = [each.inputs for each in contexts]
    inputs = combine_inputs(parts)
    found = await extract(inputs)
    told = [each for each in parts if not is_small_talk(each.messages)]
    return BatchReading(
        contexts={each.segment.id: each for each in contexts},
        inputs=inputs,
        extractions=split_extraction(found, parts, last=(told or parts)[-1].segment),
    )


def combine_inputs(inputs: Sequence[ExtractionInput]) -> ExtractionInput:
    """Return one input with the messages of several segments, and what is known for any of them.

    Of what is nearest to each, the nearest are shown.
    """
    first = inputs[0]
    read = {message.id for each in inputs for message in each.messages}
    before = {
        message.id: message
        for each in inputs
        for message in each.context_messages
        if message.id not in read
    }
    known = {state.memory.id: state for each in inputs for state in each.known}
    by_rank = chain.from_iterable(zip_longest(*(each.shown for each in inputs)))
    shown = {state.memory.id: state for state in by_rank if state is not None}
    entities = {entity.id: entity for each in inputs for entity in each.entities}
    return replace(
        first,
        messages=tuple(message for each in inputs for message in each.messages),
        context_messages=tuple(before.values()),
        known=tuple(known.values()),
        shown=tuple(shown.values())[:MAX_SHOWN],
        entities=tuple(entities.values()),
    )


def split_extraction(
    found: Extraction, inputs: Sequence[ExtractionInput], *, last: SegmentId
) -> dict[SegmentId, Extraction]:
    """Return what was found by segment: each has what its own words support.

    What rests on no message of theirs, and the summary of all, go to the ``last``.
    """
    owners = {message.id: each.segment for each in inputs for message in each.messages}
    split = {each.segment: Extraction(author=found.author) for each in inputs}
    split[last] = replace(
        split[last],
        topics=found.topics,
        summary=found.summary,
        mood=found.mood,
        self_check=found.self_check,
        malformed=found.malformed,
    )
    for segment, extraction in split.items():
        split[segment] = replace(
            extraction,
            claims=tuple(
                part
                for claim in found.claims
                if (part := take_claim(claim, segment, owners, last)) is not None
            ),
            relations=tuple(
                replace(relation, claim=part)
                for relation in found.relations
                if (part := take_claim(relation.claim, segment, owners, last)) is not None
            ),
            mentions=take_quoting(found.mentions, segment, owners, last),
            same_as_claims=take_quoting(found.same_as_claims, segment, owners, last),
        )
    return split


def take_claim(
    claim: Claim, segment: SegmentId, owners: Mapping[MessageId, SegmentId], last: SegmentId
) -> Claim | None:
    """Return a claim as far as it rests on a segment's words; None if it does not."""
    quotes = take_quotes(claim.quotes, segment, owners, last)
    return (
        replace(claim, quotes=quotes) if quotes or (not claim.quotes and segment == last) else None
    )


def take_quoting(
    items: Sequence[Quoting],
    segment: SegmentId,
    owners: Mapping[MessageId, SegmentId],
    last: SegmentId,
) -> tuple[Quoting, ...]:
    """Return the items that rest on a segment's words, with these words only."""
    taken = ((each, take_quotes(each.quotes, segment, owners, last)) for each in items)
    return tuple(replace(each, quotes=quotes) for each, quotes in taken if quotes)


def take_quotes(
    quotes: Sequence[Quote],
    segment: SegmentId,
    owners: Mapping[MessageId, SegmentId],
    last: SegmentId,
) -> tuple[Quote, ...]:
    """Return the quotes of a segment's messages; the last one's also of unknown messages."""
    return tuple(each for each in quotes if owners.get(each.message, last) == segment)


def group_into_batches(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Return segments in groups that are each read together; a long one stands alone."""
    batches: list[list[Segment]] = []
    tokens = 0
    for segment in segments:
        is_full = tokens + segment.tokens > MAX_BATCH_TOKENS
        if not batches or is_full or len(batches[-1]) == MAX_BATCH_SEGMENTS:
            batches.append([])
            tokens = 0
        batches[-1].append(segment)
        tokens += segment.tokens
    return batches
