"""Comparison of scorers on the same questions.

Where questions come from it does not know; only what answers each, and what must not.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Final, Literal, TypeAlias

from oldfriend.domain.ids import MemoryId
from oldfriend.search import BeliefIndex, SearchQuery
from oldfriend.search.scorers import SCORERS, Scorer, ScorerName

FIRST: Final = 5
LEAST_SHOWN: Final = 0.005
"""What is found with less is not shown to people either."""
DEFAULT: Final[ScorerName] = "typed_decay"
Z: Final = 1.96  # 95 of 100 samples

Question = Literal[
    "now",  # of what is so when it is asked
    "then",  # of what was so at a time
    "unnoticed",  # of what is so, while what it overtook still seems to be so
]
Aspect = Literal["found", "as it was then", "contradicted", "newest first"]
ASPECTS: Final[tuple[Aspect, ...]] = ("found", "as it was then", "contradicted", "newest first")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question, what answers it, and what would contradict the answer."""

    question: SearchQuery
    asked: Question
    right: frozenset[MemoryId]
    rivals: frozenset[MemoryId]


Moment: TypeAlias = tuple[BeliefIndex, Sequence[Case]]
"""What was believed at a time, and what is asked then."""
Judged: TypeAlias = tuple[Aspect, float]


@dataclass(slots=True)
class Tally:
    """What came of the questions, for each aspect from 0 to 1, in the order of asking."""

    of: dict[Aspect, list[float]] = field(default_factory=lambda: {each: [] for each in ASPECTS})

    def add(self, judged: Iterable[Judged]) -> None:
        """Count what is said of one answer."""
        for aspect, value in judged:
            self.of[aspect].append(value)

    def plus(self, other: "Tally") -> "Tally":
        """Both together."""
        return Tally({each: [*self.of[each], *other.of[each]] for each in ASPECTS})


Tallies: TypeAlias = Mapping[ScorerName, Tally]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of so many questions, and where it lies in 95 of 100 samples like this one."""

    value: float
    least: float
    most: float
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """In how many of the same questions a scorer does better than the default, and worse."""

    better: int
    worse: int


def compare_scorers(moments: Iterable[Moment]) -> Tallies:
    """All questions, put to each scorer."""
    tallies = {name: Tally() for name in SCORERS}
    for index, cases in moments:
        for case in cases:
            for name, scorer in SCORERS.items():
                tallies[name].add(judge_answer(case, rank_answers(case, index, scorer)))
    return tallies


def rank_answers(case: Case, index: BeliefIndex, scorer: Scorer) -> list[MemoryId]:
    """What stands first, best first."""
    hits = index.search(case.question, FIRST, scorer=scorer).hits
    return [hit.known.memory.id for hit in hits if hit.score.value >= LEAST_SHOWN]


def judge_answer(case: Case, answer: Sequence[MemoryId]) -> Iterator[Judged]:
    """What is to be said of one answer."""
    if case.asked == "unnoticed":
        yield "newest first", float(is_above(answer, case.right, case.rivals))
        return
    if case.asked == "now":
        most = min(len(case.right), FIRST)
        yield "found", len(case.right.intersection(answer)) / most
    else:
        yield "as it was then", float(is_above(answer, case.right, case.rivals))
    yield "contradicted", float(not case.rivals.isdisjoint(answer))


def is_above(
    answer: Sequence[MemoryId], right: frozenset[MemoryId], rivals: frozenset[MemoryId]
) -> bool:
    """Whether what is right was found, and nothing that contradicts it stands before it."""
    telling = next((each for each in answer if each in right or each in rivals), None)
    return telling in right


def compute_share(values: Sequence[float]) -> Share | None:
    """The mean with its interval (Wilson's), None without any question.

    Of shares of a question it is too wide rather than too narrow.
    """
    count = len(values)
    if not count:
        return None
    mean = sum(values) / count
    spread = Z * Z / count
    middle = (mean + spread / 2) / (1 + spread)
    width = Z / (1 + spread) * sqrt(mean * (1 - mean) / count + spread / count / 4)
    return Share(
        value=mean, least=max(0.0, middle - width), most=min(1.0, middle + width), questions=count
    )


def compute_difference(tallies: Tallies, name: ScorerName, aspect: Aspect) -> Difference:
    """How a scorer differs from the default; of contradictions, fewer are better."""
    pairs = zip(tallies[name].of[aspect], tallies[DEFAULT].of[aspect], strict=True)
    gains = [(theirs - ours) * (-1 if aspect == "contradicted" else 1) for theirs, ours in pairs]
    return Difference(better=sum(each > 0 for each in gains), worse=sum(each < 0 for each in gains))


def merge_tallies(several: Sequence[Tallies]) -> Tallies:
    """The questions of several replays as one."""
    total = {name: Tally() for name in SCORERS}
    for tallies in several:
        total = {name: total[name].plus(tallies[name]) for name in SCORERS}
    return total
