"""Which beliefs say the same thing about the same topic? By key and value, or word for word.

Nothing is merged: it is only about what is told once. What differs in a word may differ in all,
so meaning is not asked.
"""

from typing import Final, TypeAlias

from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import Memory
from oldfriend.domain.remembered import remembered
from oldfriend.memory.search.words import term_of, words_in

Group: TypeAlias = tuple[object, ...]

KEPT: Final = 65_536


def group_of(memory: Memory) -> Group:
    """What a belief has in common with each other one that says the same."""
    about = (memory.subject, memory.key.casefold(), _times_of(memory))
    if memory.kind == "triple":
        return (*about, *memory.entities)
    if memory.key and memory.value:
        return (*about, "value", *canonical(memory.value, memory.language))
    return (*about, memory.kind, *canonical(memory.text, memory.language))


@remembered(KEPT)
def canonical(text: str, language: str) -> tuple[int, ...]:
    """A text as the terms of its words, in their order."""
    return tuple(term_of(word, language) for word in words_in(text))


def _times_of(memory: Memory) -> tuple[Micros | None, ...]:
    """What happened twice is two; and of what is over, what was so at two times."""
    if memory.ended_at is None:
        return memory.happened_at, memory.due_at
    return memory.happened_at, memory.due_at, memory.holds_from, memory.holds_until
