"""In which beliefs does a word stand, or somebody with a name? Looked up once for each.

Knows only what the beliefs say; whom a question means it does not know.
"""

from collections.abc import Collection, Iterable

from oldfriend.domain.ids import EntityId
from oldfriend.domain.memories import Memory


def sayings_of(memory: Memory) -> str:
    """All in which a belief can name somebody, in one case."""
    return f"{memory.text} {memory.value}".casefold()


class Mentions:
    """What a person's beliefs mention, ready to be looked up."""

    __slots__ = ("_found", "_of_entity", "_text_of")

    def __init__(self) -> None:
        """Begin with no beliefs."""
        self._text_of: dict[int, str] = {}
        self._of_entity: dict[EntityId, set[int]] = {}
        self._found: dict[str, frozenset[int]] = {}

    def put(self, seq: int, memory: Memory) -> None:
        """Add a belief."""
        self._text_of[seq] = sayings_of(memory)
        for each in memory.entities:
            self._of_entity.setdefault(each, set()).add(seq)
        self._found.clear()

    def remove(self, seqs: Collection[int]) -> None:
        """Take beliefs out."""
        for seq in seqs:
            self._text_of.pop(seq, None)
        for having in self._of_entity.values():
            having.difference_update(seqs)
        self._found.clear()

    def of(self, words: Iterable[str], entities: Iterable[EntityId]) -> set[int]:
        """The beliefs in which any of these words may stand, or that are about any of these."""
        found: set[int] = set()
        for word in words:
            found |= self._with(word)
        for each in entities:
            found |= self._of_entity.get(each, set())
        return found

    def _with(self, word: str) -> frozenset[int]:
        if word not in self._found:
            having = (seq for seq, text in self._text_of.items() if word in text)
            self._found[word] = frozenset(having)
        return self._found[word]
