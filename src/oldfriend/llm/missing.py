"""What stands in for a model that was chosen and cannot be had, or is not to be asked?"""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.domain.errors import EmbeddingFailed, ModelNotAsked
from oldfriend.llm.embedding import Account, Vectors
from oldfriend.llm.model import Completion, Request, Say
from oldfriend.llm.speech import Speech, Transcript


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


@dataclass(frozen=True, slots=True, kw_only=True)
class NoTranscriber:
    """Says why nobody listens."""

    model: str
    why: str

    def charged_to(self, account: Account) -> "NoTranscriber":
        """Itself: it costs nothing."""
        del account
        return self

    async def transcribe(self, audio: bytes, *, mime: str, language: str | None) -> Transcript:
        """Raise ModelNotAsked."""
        del audio, mime, language
        raise ModelNotAsked(self.why)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSpeaker:
    """Says why nobody speaks."""

    model: str
    why: str
    voice: str = ""

    def charged_to(self, account: Account) -> "NoSpeaker":
        """Itself: it costs nothing."""
        del account
        return self

    async def speak(self, text: str, *, language: str | None) -> Speech:
        """Raise ModelNotAsked."""
        del text, language
        raise ModelNotAsked(self.why)
