"""Does a thought say anything in words that nobody has told?

Whether something praises, blames or foretells cannot be told by its words, for there are ever new
ones. That a word was told, or only ties together what was told, can. So that is what is asked: each
word has to stand in what the thinker was shown, or among the few that tie and soften (``plain`` in
``bearings``). What is refused so may have been good; one that is missing costs nothing.
"""

from collections.abc import Sequence
from typing import Final

from oldfriend.background.gates.bearing import plain_words_of
from oldfriend.background.gates.telltales import folded
from oldfriend.memory.search.words import is_stop_word, is_unspaced, stem_of, words_in

ROOT: Final = 5
"""So many letters in common from the start: forms and compounds of one word."""


def is_grounded(text: str, told: Sequence[str], *, language: str) -> bool:
    """Whether all that a text says stands in what was told."""
    return not untold(text, told, language=language)


def untold(text: str, told: Sequence[str], *, language: str) -> list[str]:
    """The words of a text that nobody has told, and that do more than tie."""
    plain = plain_words_of(language)
    heard = {word for each in told for word in words_in(folded(each))}
    stems = {stem_of(word, language) for word in heard | plain}
    roots = {root for word in heard for root in roots_of(word)}
    known = heard | {f"{word}s" for word in heard}
    return [
        word
        for word in words_in(without(text, plain))
        if not (
            word in known
            or is_stop_word(word, language)
            or stem_of(word, language) in stems
            or word.isdecimal()
            or not roots.isdisjoint(roots_of(word))
            or (is_unspaced(word) and len(word) > 1)
        )
    ]


def roots_of(word: str) -> set[str]:
    """What the forms and compounds of a word share: how it begins, also behind a German "ge"."""
    if is_unspaced(word):
        return set()
    is_participle = word.startswith("ge") and word.endswith(("t", "en"))
    bare = word.removeprefix("ge") if is_participle else word
    return {each[:ROOT] for each in (word, bare) if len(each) >= ROOT}


def without(text: str, plain: frozenset[str]) -> str:
    """A text without the words that tie, where words have no spaces between them."""
    shown = folded(text)
    if not any(is_unspaced(each) for each in plain):
        return shown
    for word in sorted(plain, key=len, reverse=True):
        shown = shown.replace(word, " ")
    return shown
