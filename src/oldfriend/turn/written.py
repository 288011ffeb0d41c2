"""What of what somebody has written about themselves answers a question? For whoever only quotes.

Nothing is inferred of it: a line is said as it stands, or not at all.
"""

from collections.abc import Sequence
from typing import Final

from oldfriend.domain.language import detect_language
from oldfriend.memory.core_blocks import CoreBlock
from oldfriend.memory.search.matters import words_of
from oldfriend.memory.search.questions import Matter, matter_of, names_any
from oldfriend.memory.search.topics import terms_of_matter
from oldfriend.memory.search.whose import tells_only_of_kin
from oldfriend.turn.quoting import BREAK

ENOUGH: Final = 0.6
"""So much of what a question is about must stand in a line that answers it."""


def written_about(question: str, language: str, blocks: Sequence[CoreBlock]) -> str:
    """The lines that tell what is asked, as they stand; empty where none does."""
    own = next((block.text for block in blocks if block.name == "user"), "")
    lines = [line for part in BREAK.split(own) if (line := " ".join(part.split()))]
    matter = matter_of(question)
    if matter is not None and (matter.is_past or matter.is_promise):
        return ""
    return " ".join(line for line in lines if tells(line, question, matter, language))


def tells(line: str, question: str, matter: Matter | None, language: str) -> bool:
    """Whether a line speaks of what is asked for by its key; without one, by the same words."""
    spoken = detect_language(line, fallback=language)
    if matter is not None and matter.is_own and not matter.is_favourite:
        return speaks_of(line, matter, spoken)
    asked = terms_of_matter(question, language)
    return bool(asked) and len(asked & terms_of_matter(line, spoken)) >= ENOUGH * len(asked)


def speaks_of(line: str, matter: Matter, language: str) -> bool:
    """Whether a line of somebody's holds a word for what is asked of themselves."""
    if matter.words:
        return matter.may_be_told_by(line)
    meant = frozenset(word for key in matter.keys for word in words_of(key, language))
    return names_any(meant, line) and not tells_only_of_kin(line, language)
