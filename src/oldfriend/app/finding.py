"""What has come of looking at one thing?"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    is_well: bool
    text: str
