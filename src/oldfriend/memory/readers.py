"""Readers: rules, the fact tagger and models, by how much of what was said they understand."""

from enum import IntEnum
from typing import Final

RULES_AUTHOR_PREFIX: Final = "rules/"
"""Prefix of the author's name if rules extracted the claims."""


class ReaderKind(IntEnum):
    """What has read a conversation; a greater one understands more."""

    RULES = 1
    TAGGER = 2
    MODEL = 3


PREFIXES: Final = {
    RULES_AUTHOR_PREFIX: ReaderKind.RULES,
    "tagger/": ReaderKind.TAGGER,
    "extract/": ReaderKind.MODEL,
}
"""How the names of authors begin that have read conversations."""


def find_reader(author: str) -> ReaderKind | None:
    """Return the reader that an author is; None for one that has read no conversation."""
    return next((each for prefix, each in PREFIXES.items() if author.startswith(prefix)), None)
