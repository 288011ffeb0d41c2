"""What do all forms need? Moments by the clocks of a place, and words with whoever said them."""

from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Evidence
from oldfriend.web.shapes.common import WordsShape


def in_zone(at: Micros, zone: str) -> str:
    """A moment by the clocks of a zone."""
    return from_micros(at, zone).isoformat(timespec="seconds")


def at_or_none(at: Micros | None, zone: str) -> str | None:
    """A moment by the clocks of a zone, where there is one."""
    return None if at is None else in_zone(at, zone)


def text_or_none(value: JsonValue) -> str | None:
    """A text, where it is one."""
    return value if isinstance(value, str) else None


def whole_or_none(value: JsonValue) -> int | None:
    """A whole number, where it is one."""
    return value if isinstance(value, int) else None


def words_shape(words: Evidence) -> WordsShape:
    """Words for or against a belief."""
    return WordsShape(
        message=words.message, quote=words.quote, role=words.role, speaker=words.speaker,
        trust=words.trust, supports=words.stance == "supports",
        at=in_zone(words.said_at, words.zone), channel=words.channel or None,
    )  # fmt: skip
