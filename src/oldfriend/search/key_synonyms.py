"""Key synonyms: other words by which a question asks for a key ("for a living" for a job)."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final

from oldfriend.domain.memories import Memory

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


def list_key_synonyms(key: str, language: str) -> list[str]:
    """List the words by which people ask for a key, or speak of it, in a language."""
    return _matters().get(_SAME.get(key, key), {}).get(language, [])


def rewrite_idioms(question: str) -> str:
    """Replace idioms in a question by words that can be matched."""
    return _IDIOM.sub("as work", question)


@cache
def _matters() -> dict[str, dict[str, list[str]]]:
    text = files("oldfriend.search").joinpath("matters.toml").read_text("utf-8")
    return tomllib.loads(text)
