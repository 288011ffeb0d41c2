"""Fact tagger protocol: a small model that marks which clauses of a message to remember."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


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
