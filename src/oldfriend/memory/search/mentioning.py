"""In which beliefs does a word stand, or somebody with a name? Looked up once for each.

Knows only what the beliefs say; whom a question means it does not know.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from oldfriend.domain.ids import EntityId
from oldfriend.domain.memories import Memory


def sayings_of(memory: Memory) -> str:
    """All in which a belief can name somebody, in one case."""
    return f"{memory.text} {memory.value}".casefold()


@dataclass(frozen=True, slots=True)
class Page:
    """Texts one after the other, so that all are looked through in one go."""

    seqs: tuple[int, ...]
    starts: tuple[int, ...]  # of each, and where the last ends
    text: str

    def holding(self, word: str) -> Iterator[int]:
        """The texts in which a word stands."""
        at = self.text.find(word)
        while 0 <= at < len(self.text):
            place = bisect_right(self.starts, at) - 1
            yield self.seqs[place]
            at = self.text.find(word, self.starts[place + 1])


def page_of(texts: dict[int, str]) -> Page:
    """All of some texts, each on a line of its own."""
    lines = [f"{text}\n" for text in texts.values()]
    starts = accumulate(map(len, lines), initial=0)
    return Page(seqs=tuple(texts), starts=tuple(starts), text="".join(lines))


class Mentions:
    """What a person's beliefs mention, ready to be looked up."""

    __slots__ = ("_found", "_of_entity", "_page", "_text_of")

    def __init__(self) -> None:
        """Begin with no beliefs."""
        self._text_of: dict[int, str] = {}
        self._of_entity: dict[EntityId, set[int]] = {}
        self._found: dict[str, frozenset[int]] = {}
        self._page: Page | None = None

    def put(self, seq: int, memory: Memory) -> None:
        """Add a belief."""
        self._text_of[seq] = sayings_of(memory)
        for each in memory.entities:
            self._of_entity.setdefault(each, set()).add(seq)
        self._look_anew()

    def remove(self, seqs: Collection[int]) -> None:
        """Take beliefs out."""
        for seq in seqs:
            self._text_of.pop(seq, None)
        for having in self._of_entity.values():
            having.difference_update(seqs)
        self._look_anew()

    def _look_anew(self) -> None:
        self._found.clear()
        self._page = None

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
            if self._page is None:
                self._page = page_of(self._text_of)
            self._found[word] = frozenset(self._page.holding(word))
        return self._found[word]
