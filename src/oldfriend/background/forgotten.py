"""What of what was read has the person had forgotten? It is not believed again.

Neither in the same words nor, of a fact or preference, with the same value. Pure; what was
forgotten is only known by prints, which somebody else keeps.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from oldfriend.background.extraction import Claim, Extraction
from oldfriend.domain.clock import Micros
from oldfriend.domain.messages import Message
from oldfriend.memory.forgetting.tombstones import belief_words

IsForgotten: TypeAlias = Callable[[str, Micros], bool]
"""Whether words that are read in what was said at a time were forgotten afterwards."""


def without_forgotten(
    extraction: Extraction, messages: Iterable[Message], is_forgotten: IsForgotten
) -> Extraction:
    """What was read, without the claims that were forgotten, unless they were told anew since."""
    said_at = {each.id: each.at for each in messages}
    claims = tuple(
        claim
        for claim in extraction.claims
        if not was_forgotten(
            claim, max((said_at.get(q.message, 0) for q in claim.quotes), default=0), is_forgotten
        )
    )
    return replace(extraction, claims=claims)


def was_forgotten(claim: Claim, told_at: Micros, is_forgotten: IsForgotten) -> bool:
    """Whether a claim, told last at a time, says what was forgotten afterwards."""
    says = belief_words(claim.kind, claim.key, claim.value)
    return is_forgotten(claim.text, told_at) or (bool(says) and is_forgotten(says, told_at))
