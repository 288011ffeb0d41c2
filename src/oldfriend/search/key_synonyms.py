"""Key synonyms: other words by which a question asks for a key ("for a living" for a job)."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from oldfriend.domain.memories import Memory
from oldfriend.lang.language_pack import load_language_pack

_IDIOM = re.compile(r"\bfor a living\b", re.IGNORECASE)
"""Asks for work, although "living" is a synonym of home."""
_SAME: Final = {"diet": "dietary", "language": "languages", "pet": "pets", "origin": "birthplace"}
"""Keys that stand for another one."""


def build_search_text(memory: Memory) -> str:
    """Return the text to index for a belief, with the synonyms of its key."""
    if not memory.key:
        return memory.text
    _, _, bare = memory.key.rpartition(":")
    words = list_key_synonyms(bare, memory.language)
    key_words = bare.replace("_", " ") if memory.language == "en" else ""
    return " ".join([memory.text, key_words, *words])


def list_key_synonyms(key: str, language: str) -> Sequence[str]:
    """List the words by which people ask for a key, or speak of it, in a language."""
    return _load_key_synonyms(language).get(_SAME.get(key, key), ())


def rewrite_idioms(question: str) -> str:
    """Replace idioms in a question by words that can be matched."""
    return _IDIOM.sub("as work", question)


@lru_cache(maxsize=32)
def _load_key_synonyms(language: str) -> Mapping[str, list[str]]:
    return load_language_pack(language).read("key_synonyms")
