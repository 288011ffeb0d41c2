"""Who hears and who speaks, of those that were named? Nothing of theirs is imported before.

What cannot be had says why when it is asked. It does not know what was chosen, nor who pays.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from oldfriend.domain.errors import InvalidInput, ModelMisconfigured
from oldfriend.domain.sayings import saying
from oldfriend.llm.adapters.making import missing_extra
from oldfriend.llm.catalogue import Choice
from oldfriend.llm.embedding import Account
from oldfriend.llm.missing import NoSpeaker, NoTranscriber
from oldfriend.llm.speech import Speaker, Transcriber

if TYPE_CHECKING:
    from oldfriend.llm.adapters.audio import Link


class Voices:
    """Those who hear and speak; their connections are closed with it."""

    def __init__(self, reach: Callable[[str], Choice], account: Account, *, folder: Path) -> None:
        """Remember how providers are reached, who pays, and from where folders are named."""
        self._reach = reach
        self._account = account
        self._folder = folder
        self._to_close: list[Callable[[], Awaitable[None]]] = []

    def transcriber(self, model: str | None) -> Transcriber | None:
        """Whoever was named to listen: "provider:name", or "local:folder"; None: nobody."""
        if model is None:
            return None
        try:
            where, _, name = model.partition(":")
            return self._whisper(name) if where == "local" else self._listener(model)
        except (ModelMisconfigured, InvalidInput) as error:
            return NoTranscriber(model=model, why=error.says)

    def speaker(self, model: str | None, voice: str) -> Speaker | None:
        """Whoever was named to speak: "provider:name"; None: nobody."""
        if model is None:
            return None
        try:
            link = self._link(model)
        except (ModelMisconfigured, InvalidInput) as error:
            return NoSpeaker(model=model, why=error.says)
        from oldfriend.llm.adapters.audio import ProvidedSpeaker

        return ProvidedSpeaker(link, voice, self._account)

    def why_not(self, model: str) -> str | None:
        """What is missing, so that it cannot be used; nobody is asked, and no model loaded."""
        where, _, name = model.partition(":")
        if where == "local":
            from oldfriend.llm.adapters.whisper import why_not

            return why_not(self._place(name))
        try:
            self._link(model)
        except (ModelMisconfigured, InvalidInput) as error:
            return error.says
        return None

    async def close(self) -> None:
        """Let connections go."""
        for close in self._to_close:
            await close()

    def _listener(self, model: str) -> Transcriber:
        link = self._link(model)
        from oldfriend.llm.adapters.audio import ProvidedTranscriber

        return ProvidedTranscriber(link, self._account)

    def _whisper(self, folder: str) -> Transcriber:
        from oldfriend.llm.adapters.whisper import Loaded, LocalTranscriber

        return LocalTranscriber(Loaded(self._place(folder)), self._account)

    def _place(self, folder: str) -> Path:
        return self._folder / Path(folder).expanduser()

    def _link(self, model: str) -> "Link":
        """Connections to a provider. Raises ModelMisconfigured, InvalidInput."""
        choice = self._reach(model)
        if choice.kind == "anthropic":
            raise ModelMisconfigured(saying(
                "provider_has_no_voice",
                f"{choice.provider} neither hears nor speaks. Choose another: oldfriend connect",
                provider=choice.provider,
            ))  # fmt: skip
        try:
            from oldfriend.llm.adapters.audio import Link
        except ImportError as error:
            raise missing_extra() from error
        link = Link(choice)
        self._to_close.append(link.close)
        return link
