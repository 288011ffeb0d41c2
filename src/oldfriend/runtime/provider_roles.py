"""Provider roles: tries and saves the choice of a provider for one use, such as speech.

Nothing is sent except an explicit test: a second of silence, or one word.

Callers validate the choice; provider details are in ``provider_setup``.
"""

import io
import wave
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from oldfriend.app.spend_limits import PendingCharges
from oldfriend.config.settings import Settings
from oldfriend.config.settings_file import update_settings_file
from oldfriend.config.settings_schema import LOCAL
from oldfriend.domain.errors import InvalidInput, ModelMisconfigured, NoSpeechDetected
from oldfriend.domain.i18n_messages import localizable
from oldfriend.llm.local_models import LocalServer
from oldfriend.llm.speech import Speech
from oldfriend.runtime.provider_setup import (
    ProviderSetup,
    charge_owner,
    measure_embedder,
    save_choices,
    save_embedder,
    save_local_embedder,
    save_model,
    save_role_model,
    try_model,
    with_setup,
)
from oldfriend.runtime.wiring import build_speech_models

DEFAULT_TRANSCRIBERS: Final[Mapping[str, str]] = {
    "openai": "whisper-1",
    "groq": "whisper-large-v3-turbo",
    "mistral": "voxtral-mini-latest",
}
DEFAULT_SPEAKERS: Final[Mapping[str, str]] = {"openai": "gpt-4o-mini-tts"}
"""The usual speaker model of each provider that has one."""
SAMPLE_RATE: Final = 16_000


async def try_transcriber(settings: Settings, model: str, setup: ProviderSetup | None) -> str:
    """Transcribe a second of silence and return the text. Raises ModelError."""
    charges = PendingCharges()
    speech_models = build_speech_models(
        settings if setup is None else with_setup(settings, setup), charges
    )
    transcriber = speech_models.build_transcriber(model)
    assert transcriber is not None
    try:
        return (await transcriber.transcribe(build_silence(), mime="audio/wav", language=None)).text
    except NoSpeechDetected:
        return ""
    finally:
        await speech_models.close()
        await charge_owner(settings, charges)


async def try_speaker(settings: Settings, setup: ProviderSetup, voice: str) -> Speech:
    """Synthesize one word. Raises ModelError."""
    charges = PendingCharges()
    speech_models = build_speech_models(with_setup(settings, setup), charges)
    speaker = speech_models.build_synthesizer(setup.model, voice)
    assert speaker is not None
    try:
        return await speaker.synthesize("Hello.", language="en")
    finally:
        await speech_models.close()
        await charge_owner(settings, charges)


def save_transcriber(settings: Settings, setup: ProviderSetup) -> str | None:
    """Save the choice of a transcriber; return where its key was stored, if any."""
    return save_choices(settings, setup, {"speech.transcriber": setup.model})


def save_local_transcriber(settings: Settings, model: str) -> None:
    """Save a model on this machine as the transcriber."""
    update_settings_file(settings.file, {"speech.transcriber": model})


def save_speaker(settings: Settings, setup: ProviderSetup, voice: str) -> str | None:
    """Save the choice of a speaker and voice; return where its key was stored, if any."""
    return save_choices(settings, setup, {"speech.speaker": setup.model, "speech.voice": voice})


def format_local_model(folder: str) -> str:
    """Format a model folder as written in settings. Raises ModelMisconfigured."""
    if not folder.strip():
        raise ModelMisconfigured(
            localizable("folder_needed", "Give the folder that contains the model.")
        )
    return f"{LOCAL}:{folder.strip()}"


def find_speech_fault(settings: Settings, model: str) -> str | None:
    """Return why a configured speech model cannot be used; None if it can. No model is asked."""
    return build_speech_models(settings, PendingCharges()).find_problem(model)


def build_silence() -> bytes:
    """Build a WAV file of one second of silence."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(SAMPLE_RATE)
        sound.writeframes(bytes(2 * SAMPLE_RATE))
    return file.getvalue()


ModelUse = Literal["main", "small", "reflect", "embedder", "transcriber", "speaker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCandidate:
    """A model that somebody considers for one use."""

    use: ModelUse
    setup: ProviderSetup | None  # None: a model in this program
    folder: str = ""  # the folder of a local transcriber
    voice: str = ""  # of a speaker
    server: LocalServer | None = None  # that has the model, if it is a local one

    @property
    def model(self) -> str:
        """The model as written in settings. Raises ModelMisconfigured where no folder is named."""
        return format_local_model(self.folder) if self.setup is None else self.setup.model

    @property
    def required_setup(self) -> ProviderSetup:
        """The setup of a use that no local model can serve.

        Raises InvalidInput if there is none.
        """
        if self.setup is None:
            raise InvalidInput(localizable("provider_unnamed", "Choose a provider."))
        return self.setup


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """The result of trying a candidate."""

    text: str
    dimension: int | None = None  # of an embedder: the dimension of its vectors
    is_opus: bool = True  # of a speaker: voice messages must be Opus


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedChoice:
    """The saved models by use, and where the key was stored, if any."""

    key_in: str | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    is_small: bool = False  # the main model is, and the settings were fitted to it


async def try_candidate(settings: Settings, candidate: ModelCandidate) -> TrialResult:
    """Try a candidate with a small request. Raises ModelError, EmbeddingFailed, InvalidInput."""
    match candidate.use:
        case "transcriber":
            await try_transcriber(settings, candidate.model, candidate.setup)
            return TrialResult(text=localizable("trial_listens", "It works."))
        case "embedder" if candidate.setup is None:
            return TrialResult(text=localizable("trial_in_program", "It is built in."))
        case "embedder":
            dimension = await measure_embedder(settings, candidate.required_setup)
            return TrialResult(
                text=localizable(
                    "trial_vectors", f"Vectors of {dimension} numbers.", dimension=dimension
                ),
                dimension=dimension,
            )
        case "speaker":
            speech = await try_speaker(settings, candidate.required_setup, candidate.voice)
            return TrialResult(text=speech.mime, is_opus=speech.is_opus)
    return TrialResult(text=await try_model(settings, candidate.required_setup))


def save_candidate(
    settings: Settings, candidate: ModelCandidate, *, dimension: int | None = None
) -> SavedChoice:
    """Save a choice; a remote embedder needs ``dimension``. Raises InvalidInput."""
    use, setup = candidate.use, candidate.setup
    match use:
        case "embedder" if setup is None:
            save_local_embedder(settings)
            return SavedChoice()
        case "transcriber" if setup is None:
            save_local_transcriber(settings, candidate.model)
            return SavedChoice(models={use: candidate.model})
        case "main":
            roles, key_in = save_model(settings, candidate.required_setup, candidate.server)
            models = {str(role): model for role, model in roles.items()}
            found = candidate.server.find_model(setup.name) if candidate.server and setup else None
            is_small = found is not None and found.fitness == "small"
            return SavedChoice(key_in=key_in, models=models, is_small=is_small)
    key_in = save_remote_candidate(settings, candidate, dimension)
    return SavedChoice(key_in=key_in, models={use: candidate.model})


def save_remote_candidate(
    settings: Settings, candidate: ModelCandidate, dimension: int | None
) -> str | None:
    """Save the choice of a remote model for one use; return where its key was stored, if any."""
    match candidate.use:
        case "embedder":
            if dimension is None:
                raise InvalidInput("Without a test, give the length of its vectors: --dimension N.")
            return save_embedder(settings, candidate.required_setup, dimension)
        case "transcriber":
            return save_transcriber(settings, candidate.required_setup)
        case "speaker":
            return save_speaker(settings, candidate.required_setup, candidate.voice)
        case role:
            return save_role_model(settings, candidate.required_setup, role)
