"""Mention index: finds the beliefs that contain a word or refer to an entity.

Caches the matches of each word.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from oldfriend.domain.ids import EntityId
from oldfriend.domain.memories import StoredBelief


def build_mention_text(memory: StoredBelief) -> str:
    """Return all of a belief's text that can name somebody, casefolded."""
    return f"{memory.text} {memory.value}".casefold()


@dataclass(frozen=True, slots=True)
class JoinedTexts:
    """Texts joined into one string, so that one search covers all of them."""

    seqs: tuple[int, ...]
    starts: tuple[int, ...]  # offset of each text, and the end of the last
    text: str

    def find_word(self, word: str) -> Iterator[int]:
        """Yield the texts that contain a string."""
        at = self.text.find(word)
        while 0 <= at < len(self.text):
            place = bisect_right(self.starts, at) - 1
            yield self.seqs[place]
            at = self.text.find(word, self.starts[place + 1])


def join_texts(texts: dict[int, str]) -> JoinedTexts:
    """Join texts, each on a line of its own."""
    lines = [f"{text}\n" for text in texts.values()]
    starts = accumulate(map(len, lines), initial=0)
    return JoinedTexts(seqs=tuple(texts), starts=tuple(starts), text="".join(lines))


class MentionIndex:
    """Index of the words and entities that a person's beliefs mention."""

    __slots__ = ("_joined", "_match_cache", "_seqs_by_entity", "_text_by_seq")

    def __init__(self) -> None:
        """Create an empty index."""
        self._text_by_seq: dict[int, str] = {}
        self._seqs_by_entity: dict[EntityId, set[int]] = {}
        self._match_cache: dict[str, frozenset[int]] = {}
        self._joined: JoinedTexts | None = None

    def add(self, seq: int, memory: StoredBelief) -> None:
        """Add a belief."""
        self._text_by_seq[seq] = build_mention_text(memory)
        for each in memory.entities:
            self._seqs_by_entity.setdefault(each, set()).add(seq)
        self._invalidate_cache()

    def remove(self, seqs: Collection[int]) -> None:
        """Remove beliefs."""
        for seq in seqs:
            self._text_by_seq.pop(seq, None)
        for entity_seqs in self._seqs_by_entity.values():
            entity_seqs.difference_update(seqs)
        self._invalidate_cache()

    def _invalidate_cache(self) -> None:
        self._match_cache.clear()
        self._joined = None

    def list_mentions(self, words: Iterable[str], entity_ids: Iterable[EntityId]) -> set[int]:
        """List the beliefs that may contain one of these words or refer to one of the entities."""
        found: set[int] = set()
        for word in words:
            found |= self._match_word(word)
        for each in entity_ids:
            found |= self._seqs_by_entity.get(each, set())
        return found

    def _match_word(self, word: str) -> frozenset[int]:
        if word not in self._match_cache:
            if self._joined is None:
                self._joined = join_texts(self._text_by_seq)
            self._match_cache[word] = frozenset(self._joined.find_word(word))
        return self._match_cache[word]
