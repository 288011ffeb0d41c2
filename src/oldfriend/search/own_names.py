"""Own names: a question that names the person who asks is one about themselves."""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Final

from oldfriend.domain.memories import Entity, MemoryState
from oldfriend.lang.language_pack import choose_language_with, load_language_pack
from oldfriend.search.tokenizer import is_stop_word, is_unspaced

OWN_NAME_KEYS: Final = frozenset({"name", "preferred_name"})
"""The keys of facts whose value is a name."""


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
        text = re.sub(_whole_word(name), " ", text, flags=re.IGNORECASE)
    forms = {form for name in names for form in (name.strip(), *name.split()[:1])}
    found = [
        form for form in forms if any(c.isalpha() for c in form) and _is_named(form, text, language)
    ]
    return tuple(sorted(found, key=lambda form: (-len(form), form)))


def _is_named(name: str, text: str, language: str) -> bool:
    if not is_stop_word(name.casefold(), language):
        return re.search(_whole_word(name), text, re.IGNORECASE) is not None
    return name[0].isupper() and any(
        found.start() > 0 for found in re.finditer(_whole_word(name), text)
    )


def _whole_word(name: str) -> str:
    escaped = re.escape(name)
    return escaped if is_unspaced(name) else rf"(?<!\w){escaped}(?=s?\b)"


def to_first_person(text: str, names: Sequence[str], language: str) -> str:
    """Return a text with these names of the speaker replaced by the words for "I" and "my"."""
    alternatives = f"(?:{'|'.join(map(re.escape, names))})"
    for pattern, replacement in _load_forms(language) if names else ():
        text = re.sub(pattern.replace("NAME", alternatives), replacement, text, flags=re.IGNORECASE)
    return text


@lru_cache(maxsize=32)
def _load_forms(language: str) -> tuple[tuple[str, str], ...]:
    """Load the patterns with a name, and what a speaker says of themselves instead."""
    words = load_language_pack(choose_language_with("queries", language)).read("queries")
    return tuple((pattern, replacement) for pattern, replacement in words.get("by_name", ()))


def drop_own(entities: Iterable[Entity], names: Collection[str]) -> tuple[Entity, ...]:
    """Return the entities without those that are called only as the person is."""
    own = {name.casefold() for name in names}
    return tuple(
        each
        for each in entities
        if not own.issuperset(name.strip().casefold() for name in (each.name, *each.aliases))
    )
