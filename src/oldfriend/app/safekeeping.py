"""Where does a talk lie that cannot get into its store? In a file, for its owner alone.

In our own format for messages, so that it can be brought in later. Knows nothing of why.
"""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from oldfriend.domain.clock import from_micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Message

SPOKEN = frozenset({"person", "companion", "other"})
TALK: Final = "talk-"


def put_into_safety(folder: Path, messages: Iterable[Message]) -> Path | None:
    """Write a person's messages into a file that bears their id and the first's, over what it held.

    None where there is nothing to write, or it cannot be written there either.
    """
    spoken = [each for each in messages if each.role in SPOKEN]
    if not spoken:
        return None
    file = folder / f"{talks_of(spoken[0].person)}{spoken[0].id}.jsonl"
    text = "".join(map(line_of, spoken))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_privately(file, text)
    except OSError:
        return None
    return file


def talks_of(person: PersonId) -> str:
    """How the names of the files begin in which a person's talks lie."""
    return f"{TALK}{person}-"


def write_privately(file: Path, text: str) -> None:
    """Put a text into a file that only its owner may read, whole or not at all. Raises OSError."""
    part = file.with_name(f"{file.name}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(file)
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def line_of(message: Message) -> str:
    """A message as it can be brought in."""
    fields: Mapping[str, str] = {
        "id": message.id, "session": message.session, "speaker": message.speaker,
        "role": message.role, "at": from_micros(message.at, message.zone).isoformat(),
        "text": message.text,
    }  # fmt: skip
    return json.dumps(fields, ensure_ascii=False) + "\n"
