"""Optional fields: checks the tags of a belief and the tone of its reason.

A tag is a category name: no sentence, no number, and nothing that could act on a reader. Knows
nothing of the belief's text.
"""

import re
from collections.abc import Iterable
from typing import Final

from oldfriend.learning.validation.safety import has_prompt_injection, has_secret
from oldfriend.learning.validation.tone import check_tone

MAX_TAGS: Final = 4
MAX_TAG_LENGTH: Final = 30
WORD: Final = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
TAG: Final = re.compile(rf"{WORD}(?: (?:{WORD}|\d{{1,3}})){{0,2}}")
"""Up to three words; passwords mix letters and digits, and links contain punctuation."""


def normalize_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the valid tags, in lower case and without duplicates."""
    plain = dict.fromkeys(" ".join(tag.lower().split()) for tag in tags)
    return tuple(tag for tag in plain if is_valid_tag(tag))[:MAX_TAGS]


def is_valid_tag(text: str) -> bool:
    """Return whether a text is a short category name, and harmless."""
    if len(text) > MAX_TAG_LENGTH or not TAG.fullmatch(text):
        return False
    return not (has_secret(text) or has_prompt_injection(text) or is_out_of_tone(text))


def is_out_of_tone(tag: str) -> bool:
    """Return whether a tag is a clinical label or a technical term, in any language."""
    return check_tone(tag, language="") in {"clinical", "metadata"}
