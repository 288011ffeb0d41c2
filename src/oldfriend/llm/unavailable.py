"""Unavailable models: stand-ins that raise the reason why a chosen model cannot be used."""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.domain.errors import EmbeddingFailed, ModelNotSetUp
from oldfriend.llm.embedding import Account, Vectors
from oldfriend.llm.model import Completion, CompletionRequest, TextCallback
from oldfriend.llm.speech import Speech, Transcription


@dataclass(frozen=True, slots=True, kw_only=True)
class UnavailableModel:
    """Model that raises why it cannot be used, so that the next one of a chain can answer."""

    name: str
    reason: str

    async def complete(
        self, request: CompletionRequest, on_text: TextCallback | None = None
    ) -> Completion:
        """Raise ModelNotSetUp."""
        del request, on_text
        raise ModelNotSetUp(self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class DisabledEmbedder:
    """Embedder that fails at once, so that the caller does without vectors."""

    model: str
    dimension: int

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Raise EmbeddingFailed."""
        del texts
        raise EmbeddingFailed(f"{self.model} is not asked now.")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnavailableTranscriber:
    """Transcriber that raises why it cannot be used."""

    model: str
    reason: str

    def with_account(self, account: Account) -> "UnavailableTranscriber":
        """Return itself, because it costs nothing."""
        del account
        return self

    async def transcribe(self, audio: bytes, *, mime: str, language: str | None) -> Transcription:
        """Raise ModelNotSetUp."""
        del audio, mime, language
        raise ModelNotSetUp(self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnavailableSynthesizer:
    """Synthesizer that raises why it cannot be used."""

    model: str
    reason: str
    voice: str = ""

    def with_account(self, account: Account) -> "UnavailableSynthesizer":
        """Return itself, because it costs nothing."""
        del account
        return self

    async def synthesize(self, text: str, *, language: str | None) -> Speech:
        """Raise ModelNotSetUp."""
        del text, language
        raise ModelNotSetUp(self.reason)
