"""Offline file: stores messages that cannot be written to the database, readable by the owner only.

It uses our own message format, so that it can be imported later.
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

EXPORTED_ROLES = frozenset({"person", "companion", "other"})
OFFLINE_FILE_PREFIX: Final = "talk-"


def write_offline_file(folder: Path, messages: Iterable[Message]) -> Path | None:
    """Write a person's messages to a file named by their id and the first message's, replacing it.

    Returns None if there is nothing to write, or the file cannot be written either.
    """
    spoken = [each for each in messages if each.role in EXPORTED_ROLES]
    if not spoken:
        return None
    file = folder / f"{get_offline_file_prefix(spoken[0].person)}{spoken[0].id}.jsonl"
    text = "".join(map(format_message_line, spoken))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private_text(file, text)
    except OSError:
        return None
    return file


def get_offline_file_prefix(person: PersonId) -> str:
    """Return the prefix of the names of a person's offline files."""
    return f"{OFFLINE_FILE_PREFIX}{person}-"


def write_private_text(file: Path, text: str) -> None:
    """Write a text atomically to a file that only its owner may read. Raises OSError."""
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


def format_message_line(message: Message) -> str:
    """Format a message as a line that can be imported."""
    fields: Mapping[str, str] = {
        "id": message.id,
        "session": message.session,
        "speaker": message.speaker,
        "role": message.role,
        "at": from_micros(message.at, message.zone).isoformat(),
        "text": message.text,
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"
