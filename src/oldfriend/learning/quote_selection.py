"""Quote selection: drops the quotes of the fact tagger that tell too little that is new."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from oldfriend.db.database import Transaction
from oldfriend.domain.memories import QUOTE_KEY
from oldfriend.learning.extraction import Claim, Extraction
from oldfriend.learning.quote_confidence import adjust_for_novelty, is_believed
from oldfriend.learning.segment_loader import SegmentContext
from oldfriend.memory.index_cache import IndexCache
from oldfriend.search import PersonIndex, compute_novelty, extract_link_terms


async def select_quotes(
    tx: Transaction, index_cache: IndexCache, context: SegmentContext, extraction: Extraction
) -> Extraction:
    """Return an extraction without the quotes that tell too little that is new."""
    if not any(each.key == QUOTE_KEY for each in extraction.claims):
        return extraction
    index = await index_cache.get_message_index(tx, context.segment.person)
    claims = await asyncio.to_thread(weigh_quotes, index, context, extraction.claims)
    return replace(extraction, claims=claims)


def weigh_quotes(
    index: PersonIndex, context: SegmentContext, claims: Sequence[Claim]
) -> tuple[Claim, ...]:
    """Return all claims but the quotes that are not believed, these with their probability."""
    messages = {each.id: each for each in context.inputs.messages}
    weighed: list[Claim] = []
    for claim in claims:
        if claim.key != QUOTE_KEY:
            weighed.append(claim)
            continue
        message = messages[claim.quotes[0].message]
        terms = extract_link_terms(message.text, message.language)
        novelty = compute_novelty(index, message.seq, terms)
        confidence = adjust_for_novelty(claim.confidence, novelty)
        if is_believed(confidence):
            weighed.append(replace(claim, confidence=confidence))
    return tuple(weighed)
