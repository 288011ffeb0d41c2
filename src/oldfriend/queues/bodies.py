"""What does a letter say? The parts of its body, each with the type that was put in.

A body is what this program wrote, perhaps in an earlier version.
"""

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.letters import Letter


def text_in(letter: Letter, name: str) -> str:
    """A text. Raises InvalidInput."""
    value = letter.body.get(name)
    if not isinstance(value, str):
        raise unreadable(letter, name)
    return value


def count_in(letter: Letter, name: str) -> int:
    """A whole number. Raises InvalidInput."""
    value = letter.body.get(name)
    if not isinstance(value, int):
        raise unreadable(letter, name)
    return value


def unreadable(letter: Letter, name: str) -> InvalidInput:
    """The error for a letter that does not say what it should."""
    return InvalidInput(f"Letter {letter.seq} in {letter.queue} {letter.lane} has no {name!r}.")
