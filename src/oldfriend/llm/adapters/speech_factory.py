"""Speech factory: builds transcribers and synthesizers by name; libraries are imported lazily.

One that cannot be built is replaced by a stand-in that raises the reason when it is asked.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from oldfriend.domain.errors import InvalidInput, ModelMisconfigured
from oldfriend.domain.i18n_messages import localizable
from oldfriend.llm.adapters.model_factory import build_missing_extra_error
from oldfriend.llm.embedding import Account
from oldfriend.llm.providers import ModelConfig
from oldfriend.llm.speech import SpeechSynthesizer, Transcriber
from oldfriend.llm.unavailable import UnavailableSynthesizer, UnavailableTranscriber

if TYPE_CHECKING:
    from oldfriend.llm.adapters.openai_speech import ProviderClient


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
                    f"{config.provider} neither hears nor speaks. Choose another: oldfriend "
                    "connect",
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
