"""oldfriend hear: what is said in a recording, in writing; a way to try who listens."""

import argparse
import mimetypes
import sys
from dataclasses import replace
from pathlib import Path

from oldfriend.app.hearing import NotHeard, hear
from oldfriend.app.house import House
from oldfriend.cli.opening import opened
from oldfriend.cli.whom import person_looked_into
from oldfriend.domain.errors import InvalidInput
from oldfriend.llm.speech import MOST_BYTES


async def run(options: argparse.Namespace) -> int:
    """Listen, and print the words."""
    sound = read_sound(options.file)
    mime = mimetypes.guess_type(options.file)[0] or ""
    async with opened(options, create=False) as house:
        async with house.db.reading() as tx:
            person = await person_looked_into(tx, options)
        heard = await hear(without_keeping(house), person.id, sound, mime=mime)
    if isinstance(heard, NotHeard):
        print(f"oldfriend: {heard.why}", file=sys.stderr)
        return 1
    print(heard.text)
    return 0


def read_sound(name: str) -> bytes:
    """The bytes of a file that is small enough. Raises InvalidInput."""
    file = Path(name)
    try:
        size = file.stat().st_size
        if size > MOST_BYTES:
            raise InvalidInput(
                f"{name} has {size / 1024**2:.1f} MB; at most {MOST_BYTES >> 20} MB can be heard."
            )
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read ({error.strerror}).") from error


def without_keeping(house: House) -> House:
    """The same house, which keeps no recording: this one belongs to no message."""
    speech = replace(house.settings.speech, keep_audio=False)
    return replace(house, settings=replace(house.settings, speech=speech))
