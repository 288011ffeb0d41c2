"""Speaker query: the speakers that a question names, or the person themself when it says "I"."""

from dataclasses import dataclass, replace
from typing import Final

from oldfriend.search.query_parser import ParsedQuery
from oldfriend.search.search_index import PersonIndex
from oldfriend.search.tokenizer import to_term, tokenize

_MIN_NICKNAME: Final = 3
_MIN_SHORTENED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerMatch:
    """Speakers that a question means, as ids in the index."""

    speakers: tuple[int, ...]
    name_terms: tuple[int, ...]  # terms of their names in messages
    surfaces: frozenset[str]  # words of the question that are speakers' names
    is_self: bool  # the question says "I" and names nobody


def match_speakers(index: PersonIndex, parsed: ParsedQuery) -> SpeakerMatch:
    """Find the speakers that a question names."""
    speaker_ids = index.tables.speakers.ids
    languages = index.tables.languages.strings
    named: list[int] = []
    terms: set[int] = set()
    surfaces: set[str] = set()
    for name, number in speaker_ids.items():
        words = [word for word in tokenize(name) if len(word) > 1]
        matched = {
            surface for word in words for surface in parsed.surfaces if _is_name(surface, word)
        }
        if matched:
            named.append(number)
            surfaces |= matched
            terms.update(to_term(word, language) for word in words for language in languages)
    return SpeakerMatch(
        speakers=tuple(named),
        name_terms=tuple(sorted(terms)),
        surfaces=frozenset(surfaces),
        is_self=parsed.is_first_person and not named,
    )


def remove_speaker_names(parsed: ParsedQuery, speaker_match: SpeakerMatch) -> ParsedQuery:
    """Remove speakers' names from the query words, because speakers are scored separately."""
    words = tuple(word for word in parsed.words if word.surface not in speaker_match.surfaces)
    return replace(parsed, words=words) if words else parsed


def _is_name(surface: str, word: str) -> bool:
    """Tell whether a word is the name or a short form of it ("Mel" for Melanie)."""
    return surface == word or (
        len(word) >= _MIN_SHORTENED and len(surface) >= _MIN_NICKNAME and word.startswith(surface)
    )
