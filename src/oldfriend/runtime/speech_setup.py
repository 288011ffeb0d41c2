"""Speech setup: tries and saves the choice of a transcriber or a speaker.

Nothing is sent except an explicit test: a second of silence, or one word.
"""

import io
import wave
from collections.abc import Mapping
from typing import Final

from oldfriend.app.usage_accounting import PendingCharges
from oldfriend.config.settings import Settings
from oldfriend.config.settings_file import update_settings_file
from oldfriend.config.settings_schema import LOCAL
from oldfriend.domain.errors import ModelMisconfigured, NoSpeechDetected
from oldfriend.domain.i18n_messages import localizable
from oldfriend.llm.speech import Speech
from oldfriend.runtime.provider_setup import ProviderSetup, charge_owner, save_choices, with_setup
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
            localizable("folder_needed", "Name the folder in which the model is.")
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
