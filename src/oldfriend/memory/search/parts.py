"""Which part does somebody play in a life, by the word for it? "Mum" is the mother.

Knows no names, and nothing of what is believed.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from oldfriend.domain.memories import Tie
from oldfriend.domain.ties import LOVES, PETS, TIE_OF_PART

_FAMILY: Final[frozenset[Tie]] = frozenset({"parent_of", "child_of", "sibling_of", "relative_of"})
_SEVERAL: Final[Mapping[str, tuple[str, ...]]] = {
    "family": (
        *LOVES, *(part for part, tie in TIE_OF_PART.items() if tie in _FAMILY),
        "children", "kids",
        "sister-in-law", "brother-in-law", "mother-in-law", "father-in-law",
    ),
    "parents": ("parents", "mother", "father"),
    "siblings": ("siblings", "sibling", "sister", "brother"),
    "children": ("children", "kids", "child", "son", "daughter"),
    "grandparents": ("grandmother", "grandfather"),
    "pets": ("pets", *sorted(PETS - {"pets"})),
    "friend": ("friend", "best friend", "best_friend"),
    **{child: (child, "children") for child in ("son", "daughter")},
    **{pet: (pet, "pets") for pet in PETS - {"pet", "pets"}},
    **dict.fromkeys(LOVES, LOVES),
}  # fmt: skip
KIN: Final = frozenset((*TIE_OF_PART, *PETS, "children", "parents", "siblings"))
"""Everything that somebody can be to another, as a key."""


def keys_of(part: str) -> tuple[str, ...]:
    """The keys of those whom a word for some of them means: "parents" are a mother and a father."""
    return _SEVERAL.get(part, (part,))


def parts_in(language: str) -> Mapping[str, str]:
    """The words of a language for the parts that people and pets play, each with its part."""
    return _parts()[language]


@cache
def _parts() -> Mapping[str, Mapping[str, str]]:
    text = files("oldfriend.memory.search").joinpath("parts.toml").read_text("utf-8")
    return tomllib.loads(text)
