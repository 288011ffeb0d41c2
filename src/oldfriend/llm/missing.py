"""What stands in for a model that was chosen and cannot be had, or is not to be asked?"""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.domain.errors import EmbeddingFailed, ModelNotAsked
from oldfriend.llm.embedding import Vectors
from oldfriend.llm.model import Completion, Request, Say


@dataclass(frozen=True, slots=True, kw_only=True)
class NoModel:
    """Says why when it is asked, so that another one of a chain can answer."""

    name: str
    why: str

    async def complete(self, request: Request, say: Say | None = None) -> Completion:
        """Raise ModelNotAsked."""
        del request, say
        raise ModelNotAsked(self.why)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoEmbedder:
    """Fails at once, so that its vectors are done without."""

    model: str
    dimension: int

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Raise EmbeddingFailed."""
        del texts
        raise EmbeddingFailed(f"{self.model} is not asked now.")
