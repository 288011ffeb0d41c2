"""Whom is a question about? The speakers it names, and the person when it says "I"."""

from dataclasses import dataclass, replace
from typing import Final

from oldfriend.memory.search.asking import Asked
from oldfriend.memory.search.index import PersonIndex
from oldfriend.memory.search.words import term_of, words_in

_SHORTEST_PET_NAME: Final = 3
_SHORTENED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """Who is meant, as numbers of speakers in the index."""

    named: tuple[int, ...]
    name_terms: tuple[int, ...]  # under which terms their names stand in messages
    surfaces: frozenset[str]  # words of the question that are speakers' names
    is_person: bool  # the question says "I" and names nobody


def who_is_meant(index: PersonIndex, asked: Asked) -> Meant:
    """The speakers a question means."""
    numbers = index.numbering.speakers.numbers
    languages = index.numbering.languages.known
    named: list[int] = []
    terms: set[int] = set()
    surfaces: set[str] = set()
    for name, number in numbers.items():
        words = [word for word in words_in(name) if len(word) > 1]
        heard = {surface for word in words for surface in asked.surfaces if _names(surface, word)}
        if heard:
            named.append(number)
            surfaces |= heard
            terms.update(term_of(word, language) for word in words for language in languages)
    return Meant(
        named=tuple(named),
        name_terms=tuple(sorted(terms)),
        surfaces=frozenset(surfaces),
        is_person=asked.first_person and not named,
    )


def without_names(asked: Asked, meant: Meant) -> Asked:
    """The question without the names of speakers: who speaks is weighed apart from the words."""
    words = tuple(word for word in asked.words if word.surface not in meant.surfaces)
    return replace(asked, words=words) if words else asked


def _names(surface: str, word: str) -> bool:
    """Is it the name, or its beginning as friends shorten it ("Mel" for Melanie)?"""
    return surface == word or (
        len(word) >= _SHORTENED and len(surface) >= _SHORTEST_PET_NAME and word.startswith(surface)
    )
