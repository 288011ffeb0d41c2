"""What does a belief say in other words: which value has it then? Pure."""

from typing import Final

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.memories import Memory
from oldfriend.domain.sayings import saying

MOST_CHARACTERS: Final = 500
STOPS: Final = " .!。！"
"""May end a sentence or be left out."""


def value_in(each: Memory, text: str) -> str:
    """The value that a new wording gives. Raises InvalidInput where it does not show."""
    if not each.value or each.value.casefold() in text.casefold():
        return each.value
    if (other := find_in_place(each, text)) is not None:
        return other
    raise InvalidInput(saying(
        "value_needed",
        f"Say the new value, too, in place of {each.value!r}: --value VALUE, in a program value=",
        value=each.value,
    ))  # fmt: skip


def value_meant(each: Memory, text: str, value: str) -> str:
    """The value that is given with a new wording; the old one gives way to what took its place.

    A form sends the old one along where only the sentence was changed.
    """
    if not value or value != each.value or value.casefold() in text.casefold():
        return value
    return find_in_place(each, text) or value


def find_in_place(each: Memory, text: str) -> str | None:
    """What stands in a new wording where the value did; None where other words differ, too."""
    before, found, after = each.text.rstrip(STOPS).partition(each.value)
    text = text.rstrip(STOPS)
    has_frame = found and len(text) > len(before) + len(after)
    if has_frame and text.startswith(before) and text.endswith(after):
        return text[len(before) : len(text) - len(after)].strip()
    return None


def checked_text(text: str) -> str:
    """A text on one line. Raises InvalidInput for an empty or endless one."""
    flat = " ".join(text.split())
    if not flat or len(flat) > MOST_CHARACTERS:
        raise InvalidInput(saying(
            "text_unfit", f"Say it in 1 to {MOST_CHARACTERS} characters, not {len(flat)}.",
            most=MOST_CHARACTERS, count=len(flat),
        ))  # fmt: skip
    return flat
