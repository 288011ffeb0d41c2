"""Name index: finds the known entities that a text names."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from oldfriend.domain.memories import Entity
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.domain.unicode_text import fold_text, strip_accents
from oldfriend.lang.language_pack import get_traits, list_languages
from oldfriend.search.tokenizer import is_stop_word, is_unspaced

_FIRST_UNSPACED = "\u2e80"
SPACED = rf"[^\W{_FIRST_UNSPACED}-\U0010ffff]"  # a letter that would continue a name
_BEGINNING = re.compile(f"{SPACED}+")
_PREFIXING: Final = re.compile("[\u0590-\u06ff]")
"""Hebrew and Arabic, which join "and", "to" and the like to the word behind."""
_MAX_PREFIX: Final = 2
_MIN_STEM: Final = 3
_MAX_ENDING: Final = 3
"""Letters of a name that stay in all its cases, and of its longest ending (a short one less)."""
_ENDING: Final = "s"
"""What many languages add to a name that owns something; it is often written without a mark."""
_CACHED_NAMES: Final = 8_192


class NameIndex:
    """Index of entity names by first word, so that only possible names are tried."""

    __slots__ = ("_entities", "_positions_by_token", "_spans")

    def __init__(self, entities: Sequence[Entity]) -> None:
        """Index the names of these entities."""
        self._entities = entities
        self._spans: NameSpans | None = None
        self._positions_by_token: defaultdict[str, set[int]] = defaultdict(set)
        for place, entity in enumerate(entities):
            for name, _ in _iter_names([entity]):
                self._positions_by_token[_first_token(name)].add(place)

    @property
    def spans(self) -> "NameSpans":
        """Where texts have these names."""
        if self._spans is None:
            self._spans = NameSpans(self._entities)
        return self._spans

    def list_named_entities(self, text: str) -> tuple[Entity, ...]:
        """List the entities that a text names."""
        folded = text.casefold()
        words = _BEGINNING.findall(folded)
        tokens = {*words, *folded, *(word.removesuffix(_ENDING) for word in words)}
        positions = {place for each in tokens for place in self._positions_by_token.get(each, ())}
        return list_named_entities(text, [self._entities[place] for place in sorted(positions)])


class NameSpans:
    """Index of folded names and their first words; it tells where a folded text begins with one.

    A text is looked up at each beginning of a word, so its cost does not grow with the names.
    """

    __slots__ = ("_bearers", "_lengths")

    def __init__(self, entities: Sequence[Entity]) -> None:
        """Index the names of these entities."""
        self._bearers: defaultdict[str, list[tuple[int, Entity]]] = defaultdict(list)
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for place, entity in enumerate(entities):
            names = {fold_text(name).strip() for name in (entity.name, *entity.aliases)} - {""}
            for name in names | {name.split()[0] for name in names}:
                self._bearers[name].append((place, entity))
                lengths[name[0]].add(len(name))
        self._lengths = {first: tuple(sorted(each)) for first, each in lengths.items()}

    def find(self, folded: str) -> list[tuple[tuple[int, int], Entity]]:
        """Find where a folded text has a name, or the first word of one, in the entities' order.

        More letters may follow: an ending of a case, or the rest of another word.
        """
        found = [
            (place, (start, start + length), entity)
            for start, first in enumerate(folded)
            if start == 0 or not folded[start - 1].isalnum() or is_unspaced(first)
            for length in self._lengths.get(first, ())
            if start + length <= len(folded)
            for place, entity in self._bearers.get(folded[start : start + length], ())
        ]
        found.sort(key=lambda each: each[:2])
        return [(span, entity) for _, span, entity in found]


def _first_token(name: str) -> str:
    """Return the first word of a name, or the first character in a script without spaces."""
    found = _BEGINNING.match(name)
    return found[0] if found else name[0]


@text_lru_cache(_CACHED_NAMES)
def is_common_word(word: str) -> bool:
    """Tell whether a word is a stop word of any language."""
    return any(is_stop_word(word, language) for language in list_languages())


def list_named_entities(text: str, entities: Sequence[Entity]) -> tuple[Entity, ...]:
    """List the entities that a text names; of overlapping names the longest counts.

    The first word of a name counts too, where it is left after whole names have been matched; one
    that is a common word ("The Galley", "Will Hart") only with its capital, within a sentence.
    """
    remaining = text.casefold()
    found: dict[str, Entity] = {}
    for name, entity in sorted(_iter_names(entities), key=lambda pair: -len(pair[0])):
        if name in remaining:
            remaining, was_found = _remove_name(name, remaining)
            if was_found:
                found.update({each.id: each for each in _filter_by_name(name, entities)})
                found[entity.id] = entity
    for entity in entities:
        first = entity.name.casefold().split()[0] if entity.name.strip() else ""
        is_named = not is_common_word(first) or f" {first.capitalize()}" in text
        if len(first) > 1 and is_named and _remove_name(first, remaining)[1]:
            found[entity.id] = entity
    return tuple(found.values())


def _iter_names(entities: Sequence[Entity]) -> Iterator[tuple[str, Entity]]:
    for entity in entities:
        for name in (entity.name, *entity.aliases):
            if len(name.strip()) > 1:
                yield name.strip().casefold(), entity


def _filter_by_name(name: str, entities: Sequence[Entity]) -> Iterator[Entity]:
    return (entity for known, entity in _iter_names(entities) if known == name)


def contains_name(folded: str, name: str) -> bool:
    """Tell whether a casefolded name stands in a casefolded text as a whole word."""
    return _remove_name(name, folded)[1]


def begins_with_name(folded: str, name: str) -> bool:
    """Tell whether a casefolded text begins with a casefolded name, or its genitive ("Evas")."""
    return any(
        folded.startswith(each) and _is_whole_word(each, folded, 0, len(each))
        for each in (name, f"{name}s")
    )


def has_lookalike_only(text: str, language: str, entities: Sequence[Entity]) -> bool:
    """Tell whether a text names none of these entities, but somebody called almost like one.

    "Evan" is not Eva: one letter more or less is another name, unless it is a form of the name.
    """
    names = {name for name, _ in _iter_names(entities)}
    firsts = {word for name in names for word in _split_name(name)[1][:1]}
    named = NamedIn(text, language)
    if any(name in named for name in (*names, *firsts)):
        return False
    return any(_is_lookalike(word, first) for first in firsts for word in named.words)


def _is_lookalike(word: str, name: str) -> bool:
    shorter, longer = sorted((word, name), key=len)
    is_longer = len(longer) == len(shorter) + 1 and longer.startswith(shorter)
    return is_longer and len(shorter) >= _MIN_STEM


def _remove_name(name: str, text: str) -> tuple[str, bool]:
    """Return the text without a name where it stands as a whole word, and whether it did.

    "Leons" names Leon, too.
    """
    was_found, start = False, text.find(name)
    while start >= 0:
        end = start + len(name)
        if len(name) >= _MIN_STEM and text.startswith(_ENDING, end):
            end += len(_ENDING)
        if _is_whole_word(name, text, start, end):
            text, was_found = f"{text[:start]} {text[end:]}", True
        start = text.find(name, start + 1)
    return text, was_found


def _is_whole_word(name: str, text: str, begin: int, end: int) -> bool:
    """Tell whether no adjacent letter extends the name to a longer word."""
    if name[0] >= _FIRST_UNSPACED:
        return True
    neighbors = text[begin - 1 : begin] + text[end : end + 1] if begin else text[end : end + 1]
    return not any(c < _FIRST_UNSPACED and (c.isalnum() or c == "_") for c in neighbors)


class NamedIn:
    """Tells which names a text contains, as whole words and in any case that names take."""

    __slots__ = ("_folded", "_has_cases", "_starts", "_words")

    def __init__(self, text: str, language: str) -> None:
        """Split the text into words."""
        self._folded = _fold_name(text)
        self._words = _BEGINNING.findall(self._folded)
        self._starts = frozenset(each[:_MIN_STEM] for each in self._words)
        traits = get_traits(language)  # of a language without a pack it is not known
        self._has_cases = traits.stemmer is None or traits.script == "cyrillic"

    @property
    def words(self) -> Sequence[str]:
        """The words, without case and accents."""
        return self._words

    def __contains__(self, name: str) -> bool:
        folded, parts = _split_name(name)
        if any(map(is_unspaced, folded)):
            return folded in self._folded
        if not any(map(self._may_contain, parts)):
            return False
        last = len(self._words) - len(parts) + 1
        return any(
            all(self._is_form(self._words[at + n], part) for n, part in enumerate(parts))
            for at in range(last)
        )

    def _may_contain(self, part: str) -> bool:
        return part[:_MIN_STEM] in self._starts or _PREFIXING.match(part) is not None

    def _is_form(self, word: str, name: str) -> bool:
        """Return whether a word is a name: "Leons" is Leon, "Анны" is Анна, "leonine" is not."""
        if word in {name, f"{name}{_ENDING}"}:
            return True
        if _PREFIXING.match(name):
            return word.endswith(name) and len(word) - len(name) <= _MAX_PREFIX
        stem = name[: max(_MIN_STEM, len(name) - 1)]
        longest = _MAX_ENDING - (len(name) == _MIN_STEM)
        return (
            self._has_cases
            and len(name) >= _MIN_STEM
            and word.startswith(stem)
            and -1 <= len(word) - len(name) <= longest
        )


@lru_cache(maxsize=_CACHED_NAMES)
def _split_name(name: str) -> tuple[str, tuple[str, ...]]:
    """Return a name without case and accents, and its words."""
    folded = _fold_name(name).strip()
    return folded, tuple(_BEGINNING.findall(folded))


def _fold_name(text: str) -> str:
    """Return a text without case and accents."""
    return strip_accents(text.casefold())


def list_possible_duplicates(entities: Sequence[Entity]) -> Iterator[tuple[Entity, Entity]]:
    """List the uncertain entities with those that they may be the same as."""
    unsure = [each for each in entities if each.status == "uncertain"]
    by_id = {each.id: each for each in entities} if unsure else {}
    for each in unsure:
        if each.same_as in by_id:
            yield each, by_id[each.same_as]
