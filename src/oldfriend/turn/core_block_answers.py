"""Core block answers: picks the line a person wrote about themselves that answers a question.

For the offline companion. Nothing is inferred: a line is quoted as it stands or not at all.
"""

from collections.abc import Sequence
from typing import Final

from oldfriend.lang.detection import detect_language
from oldfriend.memory.core_blocks import CoreBlock
from oldfriend.search.key_synonyms import list_key_synonyms
from oldfriend.search.question_patterns import (
    RequestedAttribute,
    find_requested_attribute,
    has_any_word,
)
from oldfriend.search.shared_topics import extract_content_terms
from oldfriend.search.subject_query import is_only_about_kin
from oldfriend.turn.quotes import SENTENCE_BREAK

MIN_TERM_OVERLAP: Final = 0.6
"""A line answers a question if it holds at least this share of its content terms."""


def answer_from_core_block(question: str, language: str, blocks: Sequence[CoreBlock]) -> str:
    """Return the lines that answer the question, as they stand; empty if none does."""
    own = next((block.text for block in blocks if block.name == "user"), "")
    lines = [line for part in SENTENCE_BREAK.split(own) if (line := " ".join(part.split()))]
    requested = find_requested_attribute(question)
    if requested is not None and (requested.is_past or requested.is_promise):
        return ""
    return " ".join(line for line in lines if is_answer_line(line, question, requested, language))


def is_answer_line(
    line: str, question: str, matter: RequestedAttribute | None, language: str
) -> bool:
    """Tell whether a line answers: by words for a requested key, else by shared terms."""
    line_language = detect_language(line, fallback=language)
    if matter is not None and matter.is_own and not matter.is_favourite:
        return has_key_word(line, matter, line_language)
    asked = extract_content_terms(question, language)
    return bool(asked) and len(
        asked & extract_content_terms(line, line_language)
    ) >= MIN_TERM_OVERLAP * len(asked)


def has_key_word(line: str, matter: RequestedAttribute, language: str) -> bool:
    """Tell whether a person's line about themselves holds a word for the requested key."""
    if matter.required_words:
        return matter.can_match_text(line)
    synonyms = frozenset(word for key in matter.keys for word in list_key_synonyms(key, language))
    return has_any_word(synonyms, line) and not is_only_about_kin(line, language)
