"""Chinese variants: which traditional and simplified characters are one, character by character.

Used for lookups and for this program's own words: stored text keeps its characters. The pairs are
OpenCC's, written into the Chinese pack by ``scripts/build_chinese_variants.py``.
"""

from collections.abc import Mapping
from functools import cache

from oldfriend.lang.language_pack import load_language_pack


def to_simplified(text: str) -> str:
    """Return a text with each traditional character as its simplified one; no longer or shorter."""
    return text if text.isascii() else text.translate(_load_table("simplified"))


def to_traditional(text: str) -> str:
    """Return a text with traditional characters, but for those that both scripts use."""
    return text.translate(_load_table("traditional"))


def is_traditional(text: str) -> bool:
    """Return whether a text contains a character of traditional Chinese only."""
    return to_simplified(text) != text


@cache
def load_character_variants() -> Mapping[str, str]:
    """Map each simplified character to itself and its traditional variants, in one string."""
    variants: dict[str, str] = {}
    for pair in _list_pairs("simplified"):
        traditional, simplified = pair[0], pair[1]
        variants[simplified] = variants.get(simplified, simplified) + traditional
    return variants


@cache
def _load_table(target: str) -> Mapping[int, str]:
    pairs = _list_pairs(target)
    return str.maketrans({pair[0]: pair[1] for pair in pairs})


@cache
def _list_pairs(target: str) -> tuple[str, ...]:
    return tuple(load_language_pack("zh").read("variants")[target].split())
