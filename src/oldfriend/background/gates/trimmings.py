"""What may stand beside the text of what is believed? Tags in a closed form, a reason in good tone.

A tag is a name for a drawer: no sentence, no number, nothing that acts on whoever reads it. Knows
nothing of the text that they stand beside.
"""

import re
from collections.abc import Iterable
from typing import Final

from oldfriend.background.gates.harm import gives_orders, holds_secret
from oldfriend.background.gates.tone import tone_fault

MOST_TAGS: Final = 4
LONGEST_TAG: Final = 30
WORD: Final = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
TAG: Final = re.compile(rf"{WORD}(?: (?:{WORD}|\d{{1,3}})){{0,2}}")
"""Up to three words; a password would be mixed of letters and digits, a link of signs."""


def fitting_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Those that are tags, in small letters, each once."""
    plain = dict.fromkeys(" ".join(tag.lower().split()) for tag in tags)
    return tuple(tag for tag in plain if is_tag(tag))[:MOST_TAGS]


def is_tag(text: str) -> bool:
    """Whether a text is a short name for what something is about, and does no harm."""
    if len(text) > LONGEST_TAG or not TAG.fullmatch(text):
        return False
    return not (holds_secret(text) or gives_orders(text) or is_out_of_tone(text))


def is_out_of_tone(tag: str) -> bool:
    """Whether a tag is a label or machinery; in which language it is, one word does not tell."""
    return tone_fault(tag, language="") in {"clinical", "metadata"}
