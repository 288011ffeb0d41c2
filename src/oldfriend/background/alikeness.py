"""Which claims say what is known already, or what another claim says? Weighed once for a segment.

What is unclear may be settled by asking; until then it counts as different.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from oldfriend.background.deciding import Decision
from oldfriend.background.extraction import Claim
from oldfriend.background.gathering import Gathered
from oldfriend.background.likeness import Told, Vector, Vectors, is_peak_beside_mild, verdict
from oldfriend.background.pairs import alike_pairs
from oldfriend.domain.ids import MemoryId
from oldfriend.domain.memories import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """Two of which it is not clear whether they say the same."""

    claim: Claim
    other: Told


@dataclass(slots=True)
class Alikeness:
    """What says the same, by the texts of both."""

    meanings: Mapping[str, Vector]
    same: dict[str, set[str]] = field(default_factory=dict)  # for each claim the others
    unclear: list[Unclear] = field(default_factory=list)

    def is_same(self, claim: Claim, memory: Memory) -> bool:
        """Whether a claim says what a memory says."""
        return claim.text == memory.text or memory.text in self.same.get(claim.text, ())

    def join(self, claim: Told, other: Told) -> None:
        """A claim says what something else says."""
        self.same.setdefault(claim.text, set()).add(other.text)

    def settle(self, pair: Unclear) -> None:
        """Somebody was asked: they say the same."""
        self.join(pair.claim, pair.other)
        self.join(pair.other, pair.claim)

    def vectors_of(self, decisions: Iterable[Decision]) -> dict[MemoryId, Vector]:
        """The vectors of the memories that were decided about, as far as they are known."""
        return {
            each.after.id: self.meanings[each.after.text]
            for each in decisions
            if isinstance(each.after, Memory)
            and each.op is not None
            and each.after.text in self.meanings
        }


def weigh(
    claims: Sequence[Claim], gathered: Gathered, vectors: NDArray[np.float32] | None, *,
    embedder: str,
) -> Alikeness:  # fmt: skip
    """Compare all claims of a segment with what is known, and with each other."""
    meanings = meanings_of(claims, gathered, vectors)
    alike = Alikeness(meanings=meanings)
    known = Vectors(model=embedder, of=meanings) if meanings else None
    gone = (*gathered.scene.rejected, *gathered.scene.merged)
    told = (each.memory for each in gathered.known if each.memory.kind != "triple")  # by its ends
    others: list[Told] = [*told, *gone, *claims]
    language = gathered.scene.language
    names = [name for each in gathered.entities for name in (each.name, *each.aliases)]
    for pair in alike_pairs(claims, others, known, language=language):
        claim, other = claims[pair.one], others[pair.other]
        if claim is other:
            continue
        match verdict(claim, other, known, language=language, names=names):
            case "same":
                alike.join(claim, other)
            case "unclear":
                alike.unclear.append(Unclear(claim=claim, other=other))
            case "different":
                pass
    for claim, other in rest_on_same_words(claims):
        if claim.text != other.text and other.text not in alike.same.get(claim.text, ()):
            alike.unclear.append(Unclear(claim=claim, other=other))
    return alike


def meanings_of(
    claims: Sequence[Claim], gathered: Gathered, vectors: NDArray[np.float32] | None
) -> dict[str, Vector]:
    """The vectors of all texts that are compared, as far as there are any."""
    meanings = dict(gathered.meanings)
    if vectors is not None:
        meanings |= {claim.text: row for claim, row in zip(claims, vectors, strict=True)}
    return meanings


def rest_on_same_words(claims: Sequence[Claim]) -> Iterator[tuple[Claim, Claim]]:
    """Two of a kind that somebody has read in one and the same quote: perhaps one, said twice.

    Attributes are told apart by their keys and values.
    """
    for one, other in combinations(claims, 2):
        is_kept_apart = one.kind in {"fact", "preference"} or is_peak_beside_mild(one, other)
        if one.kind == other.kind and not is_kept_apart and set(one.quotes) & set(other.quotes):
            yield one, other
