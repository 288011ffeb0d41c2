"""By which words is a belief asked for, beside its own? "What do I do for a living?" is a job."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final

from oldfriend.domain.memories import Memory

_IDIOM = re.compile(r"\bfor a living\b", re.IGNORECASE)
"""It asks for work; "living" is the word that finds a home."""
_SAME: Final = {"diet": "dietary", "language": "languages", "pet": "pets", "origin": "birthplace"}
"""Keys that mean another one."""


def words_to_find(memory: Memory) -> str:
    """The text of a belief, with the words for what it is about."""
    if not memory.key:
        return memory.text
    _, _, bare = memory.key.rpartition(":")
    words = words_of(bare, memory.language)
    named = bare.replace("_", " ") if memory.language == "en" else ""
    return " ".join([memory.text, named, *words])


def words_of(key: str, language: str) -> list[str]:
    """The words by which somebody asks for a key in a language, or tells of it."""
    return _matters().get(_SAME.get(key, key), {}).get(language, [])


def as_meant(question: str) -> str:
    """A question in words that say what it is about."""
    return _IDIOM.sub("as work", question)


@cache
def _matters() -> dict[str, dict[str, list[str]]]:
    text = files("oldfriend.memory.search").joinpath("matters.toml").read_text("utf-8")
    return tomllib.loads(text)
