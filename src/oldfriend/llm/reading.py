"""Reader and fact tagger protocols: small models that find what answers and what to remember."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

OWN_SPEAKER: Final = "me"
"""Who the asker is called in a passage, whatever their name."""
COMPANION_SPEAKER: Final = "assistant"
"""What the companion is called in a passage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A message that may answer, and the one before it."""

    text: str
    speaker: str
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How well a passage answers, and which of its words do."""

    logit: float  # above 0: rather an answer than not, if it were the only passage
    start: int  # characters of the passage's text
    end: int

    @property
    def probability(self) -> float:
        """The probability that the passage answers, if it were the only one."""
        return 1 / (1 + math.exp(-self.logit))


class Reader(Protocol):
    """Model that reads passages for the answer to a question."""

    async def read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        """Return a reading per passage, in order. Raises EmbeddingFailed if it cannot be loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedClause:
    """A clause that tells a fact of the writer's life, true and meant."""

    start: int  # characters of the message
    end: int
    score: float  # 0 to 1; a higher one is right more often


class FactTagger(Protocol):
    """Model that marks the clauses of messages that tell a fact worth remembering."""

    def tag(self, text: str, before: str) -> Sequence[TaggedClause]:
        """Return the clauses of a message, given the one before it, with their scores.

        Blocks while it computes. Raises EmbeddingFailed if it cannot be loaded.
        """
