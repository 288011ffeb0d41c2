"""What of what was read has the person had forgotten? It is not believed again.

Neither in the same words nor, of a fact or preference, with the same value; nor however it is
worded, where it rests on nothing but the very words that the forgotten rested on. Pure; what was
forgotten is only known by prints, which somebody else keeps.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from oldfriend.background.extraction import Claim, Extraction, Quote
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId
from oldfriend.domain.messages import Message
from oldfriend.memory.forgetting.tombstones import belief_words, quoted_words

IsForgotten: TypeAlias = Callable[[str, Micros], bool]
"""Whether words that are read in what was said at a time were forgotten afterwards."""


def without_forgotten(
    extraction: Extraction, messages: Iterable[Message], is_forgotten: IsForgotten
) -> Extraction:
    """What was read, without the claims and ties that were forgotten, unless told anew since."""
    said_at = {each.id: each.at for each in messages}
    claims = tuple(
        claim for claim in extraction.claims if not was_forgotten(claim, said_at, is_forgotten)
    )
    ties = tuple(
        tied for tied in extraction.ties if not was_forgotten(tied.claim, said_at, is_forgotten)
    )
    return replace(extraction, claims=claims, ties=ties)


def was_forgotten(
    claim: Claim, said_at: Mapping[MessageId, Micros], is_forgotten: IsForgotten
) -> bool:
    """Whether a claim says what was forgotten after it was told last."""
    told_at = max((said_at.get(each.message, 0) for each in claim.quotes), default=0)
    says = belief_words(claim.kind, claim.key, claim.value)
    return (
        is_forgotten(claim.text, told_at)
        or (bool(says) and is_forgotten(says, told_at))
        or (
            bool(claim.quotes)
            and all(is_quote_forgotten(claim, each, said_at, is_forgotten) for each in claim.quotes)
        )
    )


def is_quote_forgotten(
    claim: Claim, quote: Quote, said_at: Mapping[MessageId, Micros], is_forgotten: IsForgotten
) -> bool:
    """Whether something of that matter that rested on these words was forgotten afterwards."""
    at = said_at.get(quote.message, 0)
    known_by = quoted_words(claim.kind, claim.key, quote.text, said_at=at)
    return any(is_forgotten(words, at) for words in known_by)
