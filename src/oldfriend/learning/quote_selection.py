"""Quote selection: which messages the fact tagger's reading quotes, by what is new in them.

Quotes that tell too little that is new are dropped. What tells more of a quoted fact, and so may
change it, is quoted beside it: without a model it is not decided which of both still holds.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import MessageId
from oldfriend.domain.memories import QUOTE_KEY, MemoryState
from oldfriend.domain.messages import Message
from oldfriend.learning.doubt import is_doubtful
from oldfriend.learning.extraction import Claim, Extraction
from oldfriend.learning.quote_confidence import adjust_for_novelty, is_believed
from oldfriend.learning.segment_loader import SegmentContext
from oldfriend.learning.tagged_facts import MAX_CHARS, build_quote_claim, is_command, is_taggable
from oldfriend.memory.evidence import list_supported_objects
from oldfriend.memory.index_cache import IndexCache
from oldfriend.memory.message_log import list_messages_by_seq
from oldfriend.search import (
    PersonIndex,
    compute_novelty,
    extract_link_terms,
    list_earlier_links,
    list_later_links,
)
from oldfriend.search.tokenizer import tokenize
from oldfriend.turn.later_messages import is_correction_of, weigh_link
from oldfriend.turn.neighbors import is_asking

MIN_LOGIT: Final = 0.0
"""The least logit of a link to what is quoted already.

From 2.0 on, two lives quote 74 messages, 59 of them right, and capture 92 of 158 facts; from 0.0
on, 82, 65 and 99. Of 75 corrections 13 were unknown beside the old value, and are 9.
"""
CONFIDENCE: Final = 0.8
MAX_COMPARED: Final = 6
"""Earlier messages that are compared with each new one."""


async def add_follow_up_quotes(
    tx: Transaction, index_cache: IndexCache, context: SegmentContext, extraction: Extraction
) -> Extraction:
    """Return an extraction with a quote of each message that may change what is quoted."""
    new = {quote.message for each in extraction.claims for quote in each.quotes}
    unquoted = (each for each in context.inputs.messages if each.id not in new)
    statements = [each for each in unquoted if is_short_statement(each)]
    if not statements or not has_quotes(context, extraction):
        return extraction
    index = await index_cache.get_message_index(tx, context.segment.person)
    candidates = await asyncio.to_thread(list_candidate_seqs, index, statements)
    seqs = sorted({seq for found in candidates.values() for seq in found})
    earlier = await list_messages_by_seq(tx, context.segment.person, seqs)
    quoted = await list_quoted_messages(tx, context, extraction, earlier)
    pairs = {
        each.id: [old for old in earlier if old.seq in candidates[each.id]] for each in statements
    }
    found = await asyncio.to_thread(select_follow_ups, index, statements, pairs, quoted)
    quotes = (build_quote_claim(each, each.text.strip(), CONFIDENCE) for each in found)
    claims = (relate_to_known(each, context.known) for each in quotes)
    return replace(extraction, claims=(*extraction.claims, *claims))


def has_quotes(context: SegmentContext, extraction: Extraction) -> bool:
    """Tell whether anything is quoted already, or is to be; only that can be told more of."""
    is_known = any(each.memory.is_quoted_fact for each in context.known)
    return is_known or any(each.key == QUOTE_KEY for each in extraction.claims)


def is_short_statement(message: Message) -> bool:
    """Tell whether the person tells something in a message that is short enough to be quoted."""
    is_told = is_taggable(message) and not is_asking(message)
    is_short = len(message.text) <= MAX_CHARS and not is_command(message.text)
    return is_told and is_short and not is_doubtful(message)


def list_candidate_seqs(
    index: PersonIndex, statements: Iterable[Message]
) -> Mapping[MessageId, Sequence[int]]:
    """List for each message the earlier ones of which it may tell more."""
    return {
        each.id: list_earlier_links(
            index, each.seq, extract_link_terms(each.text, each.language), limit=MAX_COMPARED
        )
        for each in statements
    }


async def list_quoted_messages(
    tx: Transaction, context: SegmentContext, extraction: Extraction, messages: Iterable[Message]
) -> set[MessageId]:
    """List those of some messages of which something is, or will be, quoted as a fact."""
    quotes = {each.memory.id for each in context.known if each.memory.is_quoted_fact}
    supported = await list_supported_objects(
        tx, context.segment.person, [each.id for each in messages]
    )
    quoted = {message for message, known in supported.items() if known & quotes}
    claims = (each for each in extraction.claims if each.key == QUOTE_KEY)
    return quoted.union(quote.message for each in claims for quote in each.quotes)


def select_follow_ups(
    index: PersonIndex,
    statements: Iterable[Message],
    earlier: Mapping[MessageId, Sequence[Message]],
    quoted: Iterable[MessageId],
) -> list[Message]:
    """Select the messages that most likely tell more of one that is quoted, or was selected."""
    selected: dict[MessageId, Message] = {}
    known = {*quoted}
    for message in statements:
        if any(may_change(index, message, old) for old in earlier[message.id] if old.id in known):
            selected[message.id] = message
            known.add(message.id)
    return [*selected.values()]


def may_change(index: PersonIndex, message: Message, old: Message) -> bool:
    """Tell whether a message likely changes an earlier one, or says so right after it."""
    own = extract_link_terms(message.text, message.language)
    if not compute_novelty(index, message.seq, own):
        return False  # it says the same again
    terms = extract_link_terms(old.text, old.language)
    links = list_later_links(index, {old.seq: terms}, limit=MAX_COMPARED)
    found = (each for each in links.get(old.seq, ()) if each.seq == message.seq)
    return any(
        is_correction_of(each, message, old)
        or weigh_link(each, message, old, min_logit=MIN_LOGIT) >= MIN_LOGIT
        for each in found
    )


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
            weighed.append(relate_to_known(replace(claim, confidence=confidence), context.known))
    return tuple(weighed)


def relate_to_known(claim: Claim, known: Iterable[MemoryState]) -> Claim:
    """Return a quote as what it does to a known one whose words it repeats, or has among others."""
    words = fold_words(claim.value)
    for memory in (each.memory for each in known):
        if memory.is_quoted_fact and memory.is_live:
            if words in fold_words(memory.value):
                return replace(claim, effect="reinforces", target=memory.id)
            if fold_words(memory.value) in words:
                return replace(claim, effect="supersedes", target=memory.id)
    return claim


def fold_words(text: str) -> str:
    """Return the words of a text without punctuation or letter case, each between blanks."""
    return f" {' '.join(tokenize(text))} "
