"""Button: a command that a person may give by a press, below a message of the companion.

A press is an ordinary message that holds the command. Where there are no buttons, the same is said
in words.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.json import JsonValue

MAX_COMMAND_BYTES: Final = 64
"""What a button may carry on any channel."""
BUTTONS_DETAIL: Final = "buttons"
"""The key, in the details of a message of ours, of its buttons: it may have to be sent again."""


@dataclass(frozen=True, slots=True)
class Button:
    """A button: what stands on it, and the command that a press sends."""

    label: str
    command: str

    def __post_init__(self) -> None:
        """Refuse a command that no channel would carry."""
        if not self.command.startswith("/") or len(self.command.encode()) > MAX_COMMAND_BYTES:
            raise ValueError(f"{self.command!r} is no command for a button.")


def dump_buttons(buttons: Sequence[Button]) -> list[JsonValue]:
    """Return buttons as they are stored."""
    return [[each.label, each.command] for each in buttons]


def parse_buttons(stored: JsonValue) -> tuple[Button, ...]:
    """Return stored buttons; what is none is left out."""
    found = []
    for each in stored if isinstance(stored, list) else ():
        match each:
            case [str(label), str(command)]:
                found.append(Button(label, command))
    return tuple(found)


def build_button_details(buttons: Sequence[Button]) -> dict[str, str]:
    """Return the details of a message of ours that has buttons."""
    return {BUTTONS_DETAIL: json.dumps(dump_buttons(buttons))} if buttons else {}


def find_buttons(details: Mapping[str, str]) -> tuple[Button, ...]:
    """Return the buttons of a message of ours, by its details."""
    return parse_buttons(json.loads(details.get(BUTTONS_DETAIL, "[]")))
