"""Value extraction: finds the value of a belief in a new wording of its text."""

from typing import Final

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.memories import Memory

MAX_BELIEF_LENGTH: Final = 500
FINAL_PUNCTUATION: Final = " .!。！"
"""May end a sentence or be left out."""


def extract_value(memory: Memory, text: str) -> str:
    """Return the value in a new wording. Raises InvalidInput if it cannot be found."""
    if not memory.value or memory.value.casefold() in text.casefold():
        return memory.value
    if (replacement := find_replaced_value(memory, text)) is not None:
        return replacement
    raise InvalidInput(
        localizable(
            "value_needed",
            f"Say the new value, too, in place of {memory.value!r}: --value VALUE, in a program "
            "value=",
            value=memory.value,
        )
    )


def resolve_value(memory: Memory, text: str, value: str) -> str:
    """Return the value given with a new wording.

    Where the old value was passed along with a text that no longer contains it, as a form does,
    return what took its place in the text.
    """
    if not value or value != memory.value or value.casefold() in text.casefold():
        return value
    return find_replaced_value(memory, text) or value


def find_replaced_value(memory: Memory, text: str) -> str | None:
    """Return what stands in place of the value, or None if other words differ as well."""
    before, found, after = memory.text.rstrip(FINAL_PUNCTUATION).partition(memory.value)
    text = text.rstrip(FINAL_PUNCTUATION)
    has_frame = found and len(text) > len(before) + len(after)
    if has_frame and text.startswith(before) and text.endswith(after):
        return text[len(before) : len(text) - len(after)].strip()
    return None


def validate_belief_text(text: str) -> str:
    """Return a text on one line.

    Raises InvalidInput if it is empty or longer than MAX_BELIEF_LENGTH.
    """
    flat = " ".join(text.split())
    if not flat or len(flat) > MAX_BELIEF_LENGTH:
        raise InvalidInput(
            localizable(
                "text_unfit",
                f"Say it in 1 to {MAX_BELIEF_LENGTH} characters, not {len(flat)}.",
                most=MAX_BELIEF_LENGTH,
                count=len(flat),
            )
        )
    return flat
