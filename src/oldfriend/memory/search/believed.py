"""What was found among beliefs, and is it good enough to be told? Plain values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.language import CJK_LANGUAGES
from oldfriend.domain.memories import Entity, Known
from oldfriend.memory.search.asked_for import ASKED_FOR
from oldfriend.memory.search.questions import Matter
from oldfriend.memory.search.values import Found, Reason

_COVERED_IN: Final = {
    **dict.fromkeys(("es", "fr", "pt", "it"), 0.45), **dict.fromkeys(CJK_LANGUAGES, 0.22)
}  # fmt: skip
"""Where meaning tells little, so much of what the question's words tell must stand in the best.

Of two simulated lives it refused nine in ten questions that had no answer, instead of one in three,
and one in twelve that had one.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefHit:
    """A belief that was found; ``score`` runs from 0 to 1, like that of a message."""

    known: Known
    score: float
    why: tuple[Reason, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBeliefs:
    """The best beliefs, best first; how likely it is that any answers; who is asked about."""

    hits: tuple[BeliefHit, ...] = ()
    answerable: float = 0.0
    language: str = ""
    named: tuple[Entity, ...] = ()
    matter: Matter | None = None  # what is asked for by its key
    other_times: tuple[BeliefHit, ...] = ()  # its values, where none held when one asks about
    overtaken: tuple[Known, ...] = ()  # its values that are over, where one holds now
    asks_of_past: bool = False  # it asks how it was once
    asks_before: bool = False  # it asks of before now, and names no time

    @property
    def is_good_enough(self) -> bool:
        """Is it more honest to answer from these than to say that nothing is known?"""
        if self.hits and ASKED_FOR in self.hits[0].why:
            return True
        found = Found(hits=(), answerable=self.answerable, language=self.language)
        return bool(self.hits) and self.answerable >= found.threshold and self._is_covered

    @property
    def _is_covered(self) -> bool:
        covered = (reason.strength for reason in self.hits[0].why if reason.cause == "words")
        return max(covered, default=0.0) >= _COVERED_IN.get(self.language, 0.0)


NO_BELIEFS: Final = FoundBeliefs()


def surest(best_first: Sequence[BeliefHit]) -> list[BeliefHit]:
    """Without what is not sure yet, where something surer answers better."""
    kept: list[BeliefHit] = []
    for hit in best_first:
        if hit.known.memory.status == "tentative" and kept:
            continue
        kept.append(hit)
    return kept
