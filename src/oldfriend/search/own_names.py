"""Own names: a question that names the person who asks is one about themselves."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from oldfriend.domain.memories import Entity, MemoryState
from oldfriend.lang.language_pack import choose_language_with, load_language_pack
from oldfriend.search.name_index import SPACED
from oldfriend.search.tokenizer import is_stop_word, is_unspaced

OWN_NAME_KEYS: Final = frozenset({"name", "preferred_name"})
"""The keys of facts whose value is a name."""
_WORD_BEGINS: Final = re.compile(f"(?<!{SPACED})")
_WORD_ENDS: Final = re.compile(f"[sS]?(?!{SPACED})")
"""Edges of a name that is a whole word, or has the ending of a possessive."""


def list_told_names(facts: Iterable[MemoryState]) -> list[str]:
    """List the names that the person has told for themselves."""
    own = (each.memory for each in facts if each.memory.subject == "person")
    return [each.value for each in own if each.key in OWN_NAME_KEYS and each.value.strip()]


def find_own_names(
    text: str, names: Iterable[str], language: str, *, others: Iterable[Entity] = ()
) -> tuple[str, ...]:
    """Return the names, and first names of full names, that stand in a text, the longest first.

    A name that is a common word of the language counts only with its capital, and not as the first
    word; one that is part of the longer name of another, not at all.
    """
    longer = [name for each in others for name in (each.name, *each.aliases) if " " in name]
    for name in longer:
        if name.casefold() in text.casefold():
            text = _remove_name(name.casefold(), text)
    forms = {form for name in names for form in (name.strip(), *name.split()[:1])}
    found = [
        form for form in forms if any(c.isalpha() for c in form) and _is_named(form, text, language)
    ]
    return tuple(sorted(found, key=lambda form: (-len(form), form)))


def _is_named(name: str, text: str, language: str) -> bool:
    if name.casefold() not in text.casefold():  # compiling takes milliseconds
        return False
    found = _find_name(name.casefold(), text)
    if not is_stop_word(name.casefold(), language):
        return next(found, None) is not None
    return any(each.start() > 0 and each[0][:1].isupper() for each in found)


def _remove_name(name: str, text: str) -> str:
    """Return a text with a space wherever it has a name."""
    rest = 0
    kept: list[str] = []
    for found in _find_name(name, text):
        kept.append(text[rest : found.start()])
        rest = found.end()
    return " ".join([*kept, text[rest:]])


def _find_name(name: str, text: str) -> Iterator[re.Match[str]]:
    """Yield where a text has a name as a whole word, or before the ending of a possessive."""
    pattern, is_whole = _compile_name(name), is_unspaced(name)
    found = pattern.search(text)
    while found is not None:
        is_found = is_whole or (
            _WORD_BEGINS.match(text, found.start()) and _WORD_ENDS.match(text, found.end())
        )
        if is_found:
            yield found
        found = pattern.search(text, found.end() if is_found else found.start() + 1)


@lru_cache(maxsize=256)
def _compile_name(name: str) -> re.Pattern[str]:
    """Compile the pattern of a name; one with the wide set of SPACED takes milliseconds."""
    return re.compile(re.escape(name), re.IGNORECASE)


def to_first_person(text: str, names: Sequence[str], language: str) -> str:
    """Return a text with these names of the speaker replaced by the words for "I" and "my"."""
    for pattern, replacement in _compile_forms(tuple(names), language) if names else ():
        text = pattern.sub(replacement, text)
    return text


@lru_cache(maxsize=32)
def _compile_forms(
    names: tuple[str, ...], language: str
) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Compile the patterns with a name, each with what its bearer says of themselves instead."""
    words = load_language_pack(choose_language_with("queries", language)).read("queries")
    alternatives = f"(?:{'|'.join(map(re.escape, names))})"
    return tuple(
        (re.compile(pattern.replace("NAME", alternatives), re.IGNORECASE), replacement)
        for pattern, replacement in words.get("by_name", ())
    )


def drop_own(entities: Iterable[Entity], names: Collection[str]) -> tuple[Entity, ...]:
    """Return the entities without those that are called only as the person is."""
    own = {name.casefold() for name in names}
    return tuple(
        each
        for each in entities
        if not own.issuperset(name.strip().casefold() for name in (each.name, *each.aliases))
    )
