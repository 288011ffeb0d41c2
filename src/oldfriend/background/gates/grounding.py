"""Does a thought say anything in words that nobody has told?

Whether something praises, blames or foretells cannot be told by its words, for there are ever new
ones. That a word was told, or only ties together what was told, can. So that is what is asked: each
word has to stand in what the thinker was shown, or among the few that tie and soften (``plain`` in
``bearings``). What is refused so may have been good; one that is missing costs nothing.
"""

from collections.abc import Sequence
from typing import Final

from oldfriend.background.gates.bearing import bearing_of, is_maybe, words_alike_of, words_of
from oldfriend.background.gates.telltales import folded
from oldfriend.memory.search.words import is_stop_word, is_unspaced, stem_of, words_in
from oldfriend.prompts.phrasebook import spoken_language

ROOT: Final = 5
"""So many letters in common from the start: forms and compounds of one word."""


def is_grounded(text: str, told: Sequence[str], *, language: str) -> bool:
    """Whether all that a text says stands in what was told."""
    return not untold(text, told, language=language)


def untold(text: str, told: Sequence[str], *, language: str) -> list[str]:
    """The words of a text that nobody has told, and that do more than tie."""
    wanted = reasons_wanted(text, language)
    supposed = bearing_of(spoken_language(language)).supposing.sub(" ", folded(text))
    plain = words_of("plain", language) - wanted
    heard = {word for each in told for word in words_in(folded(each))}
    otherwise = told_otherwise(told, heard, plain, language)
    stems = {stem_of(word, language) for word in heard | plain}
    roots = {root for word in heard for root in roots_of(word)}
    unsaid = wanted - heard
    known = (
        heard
        | otherwise
        | {f"{word}s" for word in heard}
        | {word.removesuffix("s") for word in heard}
    )
    return [
        word
        for word in words_in(without(supposed, plain | otherwise))
        if word in unsaid
        or not (
            word in known
            or is_stop_word(word, language)
            or stem_of(word, language) in stems
            or word.isdecimal()
            or not roots.isdisjoint(roots_of(word))
            or (is_unspaced(word) and len(word) > 1)
        )
    ]


def reasons_wanted(text: str, language: str) -> frozenset[str]:
    """The words that give a reason; none where the text marks itself as a maybe."""
    bearing = bearing_of(spoken_language(language))
    return frozenset() if is_maybe(folded(text), bearing) else words_of("because", language)


def told_otherwise(
    told: Sequence[str], heard: set[str], plain: frozenset[str], language: str
) -> frozenset[str]:
    """Other forms of what was told, and other words for it; of words that tie there are none."""
    shown = folded(" ".join(told))
    return frozenset(
        word
        for alike in words_alike_of(language)
        if any(
            each in shown if is_unspaced(each) else each in heard
            for each in alike
            if each not in plain and not is_stop_word(each, language)
        )
        for word in alike
    )


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
