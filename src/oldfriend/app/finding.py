"""What has come of looking at one thing?"""

from dataclasses import dataclass

from oldfriend.domain.sayings import Code, Value, saying


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    is_well: bool
    text: str


def well(code: Code, text: str, /, **values: Value) -> Finding:
    """Something that is as it should be."""
    return Finding(is_well=True, text=saying(code, text, **values))


def amiss(code: Code, text: str, /, **values: Value) -> Finding:
    """Something that somebody should look at."""
    return Finding(is_well=False, text=saying(code, text, **values))
