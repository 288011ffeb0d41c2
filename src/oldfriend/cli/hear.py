"""oldfriend hear: transcribes a recording, to test the transcriber."""

import argparse
import mimetypes
import sys
from dataclasses import replace
from pathlib import Path

from oldfriend.app.app_context import AppContext
from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.domain.errors import InvalidInput
from oldfriend.inbound.voice_messages import TranscriptionFailure, transcribe_audio
from oldfriend.llm.speech import MAX_AUDIO_BYTES


async def run(options: argparse.Namespace) -> int:
    """Transcribe the file and print the text."""
    audio = read_audio_file(options.file)
    mime = mimetypes.guess_type(options.file)[0] or ""
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
        transcript = await transcribe_audio(without_audio_storage(app), person.id, audio, mime=mime)
    if isinstance(transcript, TranscriptionFailure):
        print(f"oldfriend: {transcript.why}", file=sys.stderr)
        return 1
    print(transcript.text)
    return 0


def read_audio_file(filename: str) -> bytes:
    """Read an audio file of at most MAX_AUDIO_BYTES. Raises InvalidInput."""
    file = Path(filename)
    try:
        size = file.stat().st_size
        if size > MAX_AUDIO_BYTES:
            raise InvalidInput(
                f"{filename} has {size / 1024**2:.1f} MB; at most {MAX_AUDIO_BYTES >> 20} MB can "
                "be transcribed."
            )
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{filename} cannot be read ({error.strerror}).") from error


def without_audio_storage(app: AppContext) -> AppContext:
    """Return the app context with audio storage off: this recording belongs to no message."""
    speech = replace(app.settings.speech, keep_audio=False)
    return replace(app, settings=replace(app.settings, speech=speech))
