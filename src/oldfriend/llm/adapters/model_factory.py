"""Model factory: builds the adapters of configured models; libraries are imported lazily.

One that cannot be built is replaced by a stand-in that raises the reason when it is asked.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from oldfriend.domain.errors import InvalidInput, ModelMisconfigured
from oldfriend.domain.i18n_messages import build_missing_extra_text, localizable
from oldfriend.llm.embedding import Account
from oldfriend.llm.providers import ModelConfig
from oldfriend.llm.speech import SpeechSynthesizer, Transcriber
from oldfriend.llm.unavailable import UnavailableSynthesizer, UnavailableTranscriber

if TYPE_CHECKING:
    from oldfriend.llm.adapters.ollama import OllamaModel
    from oldfriend.llm.adapters.openai_speech import ProviderClient
    from oldfriend.llm.adapters.pydantic_ai_model import PydanticAiModel

IMPORT_LOCK: Final = Lock()
"""Two threads that import packages with cyclic imports at once see them half initialized."""


def build_model(config: ModelConfig) -> "PydanticAiModel | OllamaModel":
    """Build a model that can be asked; the caller closes it.

    Raises ModelMisconfigured if the extra is not installed or the address is invalid.
    """
    with IMPORT_LOCK:
        try:
            if config.kind == "ollama":
                from oldfriend.llm.adapters.ollama import open_ollama

                return open_ollama(config)
            from oldfriend.llm.adapters.pydantic_ai_model import open_model

            return open_model(config)
        except ImportError as error:
            raise build_missing_extra_error() from error


def warm_up(config: ModelConfig) -> None:
    """Import, build and load everything that the first reply would have to wait for.

    Takes about two seconds of CPU and no network: call it in a thread. Raises ModelMisconfigured
    if the extra is not installed.
    """
    if config.kind == "ollama":
        return  # nothing that takes time
    with IMPORT_LOCK:
        try:
            from oldfriend.llm.adapters.pricing import load_prices
            from oldfriend.llm.adapters.pydantic_ai_model import warm_up_client
        except ImportError as error:
            raise build_missing_extra_error() from error
        load_prices()
        warm_up_client(config)


def build_missing_extra_error() -> ModelMisconfigured:
    """Build the error that says how to install the extra for language models."""
    return ModelMisconfigured(
        build_missing_extra_text("Reaching language models", "oldfriend[models]")
    )


class SpeechFactory:
    """Factory of transcribers and synthesizers; closes their connections."""

    def __init__(
        self, resolve_model: Callable[[str], ModelConfig], account: Account, *, folder: Path
    ) -> None:
        """Take a resolver of model names, the account to charge, and the base folder."""
        self._resolve_model = resolve_model
        self._account = account
        self._folder = folder
        self._to_close: list[Callable[[], Awaitable[None]]] = []

    def build_transcriber(self, model: str | None) -> Transcriber | None:
        """Build the transcriber "provider:name" or "local:folder"; None for None."""
        if model is None:
            return None
        try:
            provider, _, name = model.partition(":")
            return (
                self._build_local_transcriber(name)
                if provider == "local"
                else self._build_remote_transcriber(model)
            )
        except (ModelMisconfigured, InvalidInput) as error:
            return UnavailableTranscriber(model=model, reason=error.user_text)

    def build_synthesizer(self, model: str | None, voice: str) -> SpeechSynthesizer | None:
        """Build the synthesizer "provider:name"; None for None."""
        if model is None:
            return None
        try:
            client = self._open_client(model)
        except (ModelMisconfigured, InvalidInput) as error:
            return UnavailableSynthesizer(model=model, reason=error.user_text)
        from oldfriend.llm.adapters.openai_speech import RemoteSynthesizer

        return RemoteSynthesizer(client, voice, self._account)

    def find_problem(self, model: str) -> str | None:
        """Return why a model cannot be used, without sending a request or loading it."""
        provider, _, name = model.partition(":")
        if provider == "local":
            from oldfriend.llm.adapters.whisper import find_problem

            return find_problem(self._resolve_folder(name))
        try:
            self._open_client(model)
        except (ModelMisconfigured, InvalidInput) as error:
            return error.user_text
        return None

    async def close(self) -> None:
        """Close all connections."""
        for close in self._to_close:
            await close()

    def _build_remote_transcriber(self, model: str) -> Transcriber:
        client = self._open_client(model)
        from oldfriend.llm.adapters.openai_speech import RemoteTranscriber

        return RemoteTranscriber(client, self._account)

    def _build_local_transcriber(self, folder: str) -> Transcriber:
        from oldfriend.llm.adapters.whisper import LazyWhisper, LocalTranscriber

        return LocalTranscriber(LazyWhisper(self._resolve_folder(folder)), self._account)

    def _resolve_folder(self, folder: str) -> Path:
        return self._folder / Path(folder).expanduser()

    def _open_client(self, model: str) -> "ProviderClient":
        """Open connections to a provider. Raises ModelMisconfigured, InvalidInput."""
        config = self._resolve_model(model)
        if config.kind == "anthropic":
            raise ModelMisconfigured(
                localizable(
                    "provider_has_no_voice",
                    f"{config.provider} can neither transcribe nor speak. Choose another: "
                    "oldfriend connect",
                    provider=config.provider,
                )
            )
        try:
            from oldfriend.llm.adapters.openai_speech import ProviderClient
        except ImportError as error:
            raise build_missing_extra_error() from error
        client = ProviderClient(config)
        self._to_close.append(client.close)
        return client
