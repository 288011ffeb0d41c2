"""What does the index keep of a message without its text? A short header and the terms in order.

An imprint is a row of little-endian 32-bit numbers: version and signs, length in characters,
language, then one number for each term. It is stored beside the message, so that a person's
index is built without reading, splitting or stemming any text again.
"""

import sys
from array import array
from functools import reduce
from operator import or_
from typing import Final

from oldfriend.domain.remembered import remembered
from oldfriend.memory.search.signs import sign_of_word, signs_of_text
from oldfriend.memory.search.words import term_of, words_in

IMPRINT_VERSION: Final = 1
HEADER_WORDS: Final = 3
_MOST_TERMS: Final = 20_000


def imprint_of(text: str, *, language: str) -> bytes:
    """The imprint of a text; a text without any word has an empty one and is never found."""
    words = words_in(text)
    if not words:
        return b""
    terms, word_signs = zip(
        *[_term_and_signs(word, language) for word in words[:_MOST_TERMS]], strict=True
    )
    signs = reduce(or_, word_signs, signs_of_text(text))
    header = (IMPRINT_VERSION | signs << 8, len(text), _language_code(language))
    numbers = array("I", header + terms)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def is_current_imprint(imprint: bytes) -> bool:
    """Was the imprint made by this version of the code?"""
    return not imprint or imprint[0] == IMPRINT_VERSION


@remembered(65_536)
def _term_and_signs(word: str, language: str) -> tuple[int, int]:
    return term_of(word, language), sign_of_word(word)


def _language_code(language: str) -> int:
    return int.from_bytes(language.encode("ascii", "replace")[:4], "little")
