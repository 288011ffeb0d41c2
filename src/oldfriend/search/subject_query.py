"""Subject query: whether a question is about the asker, a named entity or the asker's relatives.

Decided by words alone, in each language that the companion speaks.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS
from oldfriend.domain.ids import EntityId
from oldfriend.domain.memories import Entity, StoredBelief
from oldfriend.lang.language_pack import choose_language_with, get_traits, load_language_pack
from oldfriend.search.mention_index import build_mention_text
from oldfriend.search.name_index import list_named_entities
from oldfriend.search.own_names import OWN_NAME_KEYS
from oldfriend.search.query_parser import ParsedQuery
from oldfriend.search.question_patterns import has_any_word, list_kin_words
from oldfriend.search.role_holders import NOBODY_CALLED, CalledByRole
from oldfriend.search.search_index import PersonIndex
from oldfriend.search.synonyms import get_role_words, list_role_keys
from oldfriend.search.tokenizer import is_unspaced, to_term, tokenize

_MIN_NICKNAME: Final = 3
_MIN_SHORTENED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerMatch:
    """Speakers that a question means, as ids in the index."""

    speakers: tuple[int, ...]
    name_terms: tuple[int, ...]  # terms of their names in messages
    surfaces: frozenset[str]  # words of the question that are speakers' names
    is_self: bool  # the question says "I" and names nobody


def match_speakers(
    index: PersonIndex, parsed: ParsedQuery, own_names: Collection[str] = ()
) -> SpeakerMatch:
    """Find the speakers that a question names, also the asker by one of their names in it."""
    speaker_ids = index.tables.speakers.ids
    languages = index.tables.languages.strings
    named: list[int] = []
    terms: set[int] = set()
    surfaces: set[str] = set()
    own_surfaces = {word for name in own_names for word in tokenize(name)} & parsed.surfaces
    all_words = frozenset(word for name in speaker_ids for word in tokenize(name))
    for name, number in speaker_ids.items():
        words = [word for word in tokenize(name) if len(word) > 1]
        matched = {
            surface
            for word in words
            for surface in parsed.surfaces
            if _is_name(surface, word, all_words)
        }
        if matched:
            named.append(number)
            surfaces |= matched
            terms.update(to_term(word, language) for word in words for language in languages)
    if own_surfaces:
        named += sorted(index.own_speakers.difference(named))
        surfaces |= own_surfaces
        terms.update(to_term(word, language) for word in own_surfaces for language in languages)
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


def _is_name(surface: str, word: str, all_words: Collection[str]) -> bool:
    """Tell whether a word is the name or a short form of it ("Mel" for Melanie).

    The name of another speaker, such as "Eva" beside an Evangeline, is no short form.
    """
    return surface == word or (
        surface not in all_words
        and len(word) >= _MIN_SHORTENED
        and len(surface) >= _MIN_NICKNAME
        and word.startswith(surface)
    )


_NAME: Final = re.compile(
    r"\b(?:names?|called|nombres?|llaman?|noms?|prénoms?|appell\w+|namen?s?|heißt|heißen)\b"
    r"|名字|叫"
)
_CALLS_ME: Final = re.compile(r"\bcalls? me\b|\bme llam|\bm['’]appell|叫我")
_CAPITALIZED: Final = re.compile(r"(?<=[\w,] )[^\W\d_a-zà-ÿ][^\W\d_]+")


def is_only_about_kin(text: str, language: str) -> bool:
    """Tell whether somebody speaks of their relatives and not of themselves."""
    words = _load_subject_words(language)
    if words is None:
        return False
    lowered, kin = text.lower(), get_role_words(language)
    kin_matches = [found for found in words.belonging.finditer(lowered) if found[1] in kin]
    for found in reversed(kin_matches):
        lowered = lowered[: found.start()] + lowered[found.end() :]
    return bool(kin_matches) and words.own_or_among_others.search(lowered) is None


def find_belongings(text: str, language: str) -> Iterator[tuple[int, str]]:
    """Yield where a text tells of a thing of the speaker's, and how: "my bike", not "my mother"."""
    words, kin = _load_subject_words(language), get_role_words(language)
    for found in words.belonging.finditer(text.lower()) if words else ():
        if found[1] not in kin and not _NAME.fullmatch(found[1]):
            yield found.start(), found[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectWords:
    """The words of a language by which people speak of themselves and of what belongs to them."""

    own: re.Pattern[str]
    own_or_among_others: re.Pattern[str]
    belonging: re.Pattern[str]


@lru_cache(maxsize=32)
def _load_subject_words(language: str) -> SubjectWords | None:
    """Load the words by which people speak of themselves, if the language has any."""
    words = load_language_pack(language).read("queries")
    if not words:
        return None
    own = [words[name] for name in ("own", "among_others") if name in words]
    return SubjectWords(
        own=re.compile(words["own"]),
        own_or_among_others=re.compile("|".join(own)),
        belonging=re.compile(words["belonging"]),
    )


class SubjectQuery:
    """Subject of a question; beliefs about somebody else cannot answer it."""

    __slots__ = (
        "_addressed",
        "_belonging",
        "_called",
        "_descriptions",
        "_is_for_a_name",
        "_kin",
        "_named",
        "_names",
        "entity_ids",
        "is_about_self",
        "is_about_someone",
    )

    def __init__(
        self,
        text: str,
        language: str,
        entities: Sequence[Entity],
        *,
        has_explicit_time: bool,
        named_entities: Sequence[Entity] | None = None,
        called: CalledByRole = NOBODY_CALLED,
        names_asker: bool = False,
    ) -> None:
        """Read the subject from the question; if it names a time, capitals are not names.

        `named_entities`: the entities that the question names, if already known.
        `called`: whom it calls by a role.
        `names_asker`: it was asked with the asker's own name.
        """
        lowered = text.lower()  # lower, not casefold, so that "ß" is kept
        known = choose_language_with("queries", language)
        words = _load_subject_words(known)
        assert words is not None
        self._named = (
            list_named_entities(text, entities) if named_entities is None else tuple(named_entities)
        )
        self._called = called.entities
        self.entity_ids = frozenset(each.id for each in (*self._named, *self._called))
        self.is_about_self = names_asker or words.own.search(lowered) is not None
        self._is_for_a_name = _NAME.search(lowered) is not None and not _CALLS_ME.search(lowered)
        nouns = words.belonging.findall(lowered)
        self._belonging = [each.casefold() for each in nouns if not _NAME.fullmatch(each)]
        self._kin = frozenset(
            word
            for kin, part in get_role_words(known).items()
            if is_kin_named(kin, lowered, self._belonging)
            for word in (kin, *list_kin_words(list_role_keys(part)))
        ).union(called.role_words)
        described = entities if self._belonging else ()
        self._descriptions = {each.id: each.description for each in described}
        is_of_somebody = (
            not (self.is_about_self or has_explicit_time)
            and get_traits(language).name_capitals == "only"
        )
        found = _CAPITALIZED.findall(text) if is_of_somebody and not self._named else []
        self._names = frozenset(each.casefold() for each in found)
        has_named_person = any(each.kind in {"person", "pet"} for each in self._named)
        self.is_about_someone = has_named_person or bool(self._names)
        self._addressed = frozenset(_CAPITALIZED.findall(text)) - {"I"}

    def is_match(self, memory: StoredBelief) -> bool:
        """Tell whether a belief is about the subject of the question."""
        bare = memory.key.rpartition(":")[2]
        if is_about_other(memory):
            return (
                not self.is_about_self or self._names_who(memory) or self._has_what_belongs(memory)
            )
        if memory.subject != "person":
            return True
        if self.is_name_query and bare in OWN_NAME_KEYS:
            return self._has_what_belongs(memory)
        if self._kin and memory.key and memory.kind in ATTRIBUTE_KINDS:
            # Where I live says nothing about my father.
            return self._tells_of_kin(memory) or self._names_called(memory)
        return not self.is_about_someone or self._mentions(
            build_mention_text(memory), memory.entities
        )

    @property
    def is_name_query(self) -> bool:
        """Whether the question asks for the name of somebody who belongs to the asker."""
        return bool(self._belonging) and self._is_for_a_name

    @property
    def required_words(self) -> list[str]:
        """Words of which a belief about the subject has one, unless it refers to the entity."""
        names = (name for each in self._named for name in (each.name, *each.aliases))
        full_names = [name.strip().casefold() for name in names if name.strip()]
        return [*self._names, *full_names, *(name.split()[0] for name in full_names)]

    def is_about(self, memory: StoredBelief) -> bool:
        """Tell whether a belief is about a named entity or a relative or belonging of the asker."""
        return self._names_who(memory) or self._has_what_belongs(memory)

    def can_be_addressed_to(self, memory: StoredBelief) -> bool:
        """Tell whether a promise may have been made to the one whom the question names, if any."""
        if self._kin and not self._named:
            return self._tells_of_kin(memory) or self._names_called(memory)
        if not (self._named or self._addressed):
            return True
        is_named = has_any_word(self._addressed, memory.text)
        return is_named or self._mentions(memory.text, memory.entities)

    def _tells_of_kin(self, memory: StoredBelief) -> bool:
        return has_any_word(self._kin, memory.text)

    def _names_called(self, memory: StoredBelief) -> bool:
        """Tell whether a belief mentions whom the question calls by a role."""
        ids = {each.id for each in self._called}
        return not ids.isdisjoint(memory.entities) or bool(
            self._called and list_named_entities(build_mention_text(memory), self._called)
        )

    def _names_who(self, memory: StoredBelief) -> bool:
        text = f"{memory.text} {memory.key.replace(':', ' ').replace('_', ' ')}"
        return self._mentions(text, memory.entities)

    def _mentions(self, text: str, entity_ids: Collection[EntityId]) -> bool:
        if not self.entity_ids.isdisjoint(entity_ids):
            return True
        meant = (*self._named, *self._called)
        return has_any_word(self._names, text) or bool(list_named_entities(text, meant))

    def _has_what_belongs(self, memory: StoredBelief) -> bool:
        if not self._belonging:
            return False
        about = [self._descriptions.get(each, "") for each in memory.entities]
        text = " ".join([memory.text, memory.key.replace("_", " "), *about]).casefold()
        return any(noun in text for noun in self._belonging)


def is_kin_named(kin: str, said: str, belonging: Collection[str]) -> bool:
    """Tell whether a question mentions a relative; without spaces a substring is enough."""
    return kin in said if is_unspaced(kin) else kin in belonging


def is_about_other(memory: StoredBelief) -> bool:
    """Tell whether a belief is about somebody or something other than the person."""
    return memory.subject == "other" or ":" in memory.key
