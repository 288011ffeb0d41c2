"""Message details: what channels make alike of a message, whatever the platform."""

import re
from typing import Final, Literal

from oldfriend.lang.command_menu import OFFERED_COMMANDS

MediaKind = Literal[
    "voice", "audio", "video_note", "photo", "video", "animation", "document", "sticker"
]
MEDIA_NAMES: Final = {
    "voice": "voice message",
    "audio": "audio",
    "video_note": "video message",
    "photo": "photo",
    "video": "video",
    "animation": "animation",
    "document": "file",
    "sticker": "sticker",
}

SPEECH_MEDIA: Final = frozenset({"voice", "audio", "video_note"})
"""Media in which somebody may speak."""
UNSEEN_MEDIA: Final = frozenset({"photo", "video", "animation", "document", "file"})
"""Media that nobody looks into; of such a message only the caption is read."""
TIMED_MEDIA: Final = frozenset({"voice", "audio", "video_note", "video"})
OWN_COMMANDS: Final = frozenset({"/start", "/stop", "/allow", "/disallow"})
"""Commands of ours that need not name the bot; any other may be another bot's."""
COMMANDS: Final = OWN_COMMANDS | {
    f"/{each}"
    for each in (*OFFERED_COMMANDS, "join", "retry", "todo", "todos", "reminders", "watch", "diary")
}
"""Where apps keep "/" to themselves, what is a command when it is written otherwise."""
NAMED_COMMAND: Final = re.compile(
    r"(?<![A-Za-z0-9/.:@_-])/([a-z]{2,12})(?![A-Za-z0-9/_-]|\.[A-Za-z0-9])"
)
"""A command in a text, and no part of a path or an address."""
MIN_NAME_CHARS: Final = 2


def build_media_details(
    kind: MediaKind, *, file_id: str, mime: str, size: int | None, has_words: bool
) -> dict[str, str]:
    """Return the kind of a file, and for a recording how to download it."""
    details: dict[str, str] = {"media": kind}
    if kind in SPEECH_MEDIA:
        details |= {"recording": file_id, "mime": mime, "bytes": str(size or 0)}
        details |= {"caption": "yes"} if has_words else {}
    return details


def describe_media(kind: MediaKind, duration_s: int | None) -> str:
    """Describe a file that comes without text."""
    if duration_s is None or kind not in TIMED_MEDIA:
        return f"[{MEDIA_NAMES[kind]}]"
    return f"[{MEDIA_NAMES[kind]}, {duration_s // 60}:{duration_s % 60:02d}]"


def is_own_command(text: str) -> bool:
    """Tell whether a text begins with a command that need not name the bot."""
    return not OWN_COMMANDS.isdisjoint(text.split(maxsplit=1)[:1])


def reword_commands(text: str, form: str) -> str:
    """Return a text of ours with its commands as they are written where "/" is kept by the app."""
    if "/" not in text:
        return text
    return NAMED_COMMAND.sub(
        lambda found: form.format(name=found[1]) if found[0] in COMMANDS else found[0], text
    )


def is_called_by_name(text: str, name: str) -> bool:
    """Tell whether a text addresses somebody by name: at its start, or after a comma at its end.

    "Hey Oldfriend," counts as well; a mere mention does not.
    """
    if len(name) < MIN_NAME_CHARS:
        return False
    name_pattern = rf"(?<![A-Za-z0-9_@]){re.escape(name)}(?![A-Za-z0-9_])"
    start_pattern = (
        rf"\A\s*+(?:{name_pattern}|\w+\W+(?:\w+\W+)?{name_pattern}\s*[,:;!?.，：！？。])"
    )
    end_pattern = rf"[,，、]\s*{name_pattern}\W*$"
    return bool(
        re.match(start_pattern, text, re.IGNORECASE) or re.search(end_pattern, text, re.IGNORECASE)
    )
