"""Who could hear and speak, does it work, and how is the choice kept?

Nothing is sent but a test, when that is asked: a second of silence, or one word.
"""

import io
import wave
from collections.abc import Mapping
from typing import Final

from oldfriend.app.charging import Tab
from oldfriend.app.choices.sections import LOCAL
from oldfriend.app.choices.settings import Settings
from oldfriend.app.choices.settings_writing import write_choices
from oldfriend.app.connecting import Wish, charge_owner, keep, with_wish
from oldfriend.app.wiring import voices_for
from oldfriend.domain.errors import ModelMisconfigured, NothingHeard
from oldfriend.domain.sayings import saying
from oldfriend.llm.speech import Speech

TRANSCRIBERS: Final[Mapping[str, str]] = {
    "openai": "whisper-1", "groq": "whisper-large-v3-turbo", "mistral": "voxtral-mini-latest",
}  # fmt: skip
SPEAKERS: Final[Mapping[str, str]] = {"openai": "gpt-4o-mini-tts"}
"""What is usual for a provider that has any."""
A_SECOND: Final = 16_000


async def try_transcriber(settings: Settings, model: str, wish: Wish | None) -> str:
    """Have a second of silence listened to; what was made of it. Raises ModelError."""
    tab = Tab()
    voices = voices_for(settings if wish is None else with_wish(settings, wish), tab)
    transcriber = voices.transcriber(model)
    assert transcriber is not None
    try:
        return (await transcriber.transcribe(silence(), mime="audio/wav", language=None)).text
    except NothingHeard:
        return ""
    finally:
        await voices.close()
        await charge_owner(settings, tab)


async def try_speaker(settings: Settings, wish: Wish, voice: str) -> Speech:
    """Have a word spoken. Raises ModelError."""
    tab = Tab()
    voices = voices_for(with_wish(settings, wish), tab)
    speaker = voices.speaker(wish.model, voice)
    assert speaker is not None
    try:
        return await speaker.speak("Hello.", language="en")
    finally:
        await voices.close()
        await charge_owner(settings, tab)


def keep_transcriber(settings: Settings, wish: Wish) -> str | None:
    """Keep the choice of who listens; where its key went, if it had one."""
    return keep(settings, wish, {"speech.transcriber": wish.model})


def keep_local_transcriber(settings: Settings, model: str) -> None:
    """Have a model on this machine listen."""
    write_choices(settings.file, {"speech.transcriber": model})


def keep_speaker(settings: Settings, wish: Wish, voice: str) -> str | None:
    """Keep the choice of who speaks, in which voice; where its key went, if it had one."""
    return keep(settings, wish, {"speech.speaker": wish.model, "speech.voice": voice})


def local_model(folder: str) -> str:
    """A folder with a model, as it is written in settings. Raises ModelMisconfigured."""
    if not folder.strip():
        raise ModelMisconfigured(saying("folder_needed", "Name the folder in which the model is."))
    return f"{LOCAL}:{folder.strip()}"


def what_is_missing(settings: Settings, model: str) -> str | None:
    """Why somebody who was chosen cannot hear or speak, if so; nobody is asked."""
    return voices_for(settings, Tab()).why_not(model)


def silence() -> bytes:
    """A second of it."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(A_SECOND)
        sound.writeframes(bytes(2 * A_SECOND))
    return file.getvalue()
