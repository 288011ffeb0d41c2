"""The report of a comparison as a table and as JSON: numbers only, nobody's words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import comb
from typing import Final

from oldfriend.domain.json import JsonValue
from oldfriend_evals.report import align_row
from oldfriend_evals.scoring.scorer_comparison import (
    ASPECTS,
    DEFAULT,
    Aspect,
    Difference,
    Share,
    Tallies,
    compute_difference,
    compute_share,
)

CLEAR: Final = 0.05
MEANING: Final[Mapping[Aspect, str]] = {
    "found": "of what answers, so much is among the first five (r@5)",
    "as it was then": "asked as of a time: what held then was found, before what did not",
    "contradicted": "something overtaken or contradicting stands among the first five",
    "newest first": "nobody noticed a change: the newer stands before the older",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """What came of one replay."""

    name: str
    tallies: Tallies

    @property
    def has_questions(self) -> bool:
        """Whether anything could be asked."""
        return any(self.tallies[DEFAULT].of.values())


def format_text(replayed: Sequence[ReplayResult]) -> str:
    """All replays to read, and whether any scorer is clearly better."""
    lines = [
        line for each in replayed for line in [f"{each.name}:", *format_shares(each.tallies), ""]
    ]
    lines += [f"{aspect}: {meaning}." for aspect, meaning in MEANING.items()]
    lines.append("In brackets: where the share lies in 95 of 100 samples like this one.")
    return "\n".join([*lines, "", *(line for each in replayed for line in list_verdicts(each))])


def format_shares(tallies: Tallies) -> Iterator[str]:
    """A line for each scorer, and one for how much was asked."""
    asked = [aspect for aspect in ASPECTS if tallies[DEFAULT].of[aspect]]
    rows = [("scorer", *asked)]
    for name, tally in tallies.items():
        rows.append((name, *(format_share(compute_share(tally.of[aspect])) for aspect in asked)))
    rows.append(("questions", *(str(len(tallies[DEFAULT].of[aspect])) for aspect in asked)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return (f"  {align_row(row, widths)}" for row in rows)


def format_share(share: Share | None) -> str:
    """A share as it is read."""
    if share is None:
        return ""
    return f"{share.value:.1%} ({share.least:.0%}–{share.most:.0%})"


def list_verdicts(replayed: ReplayResult) -> Iterator[str]:
    """In words, how each other scorer differs from the default."""
    for name in replayed.tallies:
        differing = [
            f"{aspect} {told.better} better, {told.worse} worse"
            f"{' (clear)' if is_clear(told) else ''}"
            for aspect in ASPECTS
            if (told := compute_difference(replayed.tallies, name, aspect)).better + told.worse
        ]
        if name != DEFAULT:
            what = "; ".join(differing) or "no question is answered otherwise"
            yield f"{replayed.name}: {name} beside {DEFAULT}: {what}."


def is_clear(told: Difference) -> bool:
    """Whether chance alone would hardly do that (two-sided sign test)."""
    count, fewer = told.better + told.worse, min(told.better, told.worse)
    likely = sum(comb(count, each) for each in range(fewer + 1)) / 2**count
    return count > 0 and 2 * likely < CLEAR


def to_json(replayed: Sequence[ReplayResult]) -> JsonValue:
    """The same for a program."""
    return [{"of": each.name, "scorers": scorers_to_json(each.tallies)} for each in replayed]


def scorers_to_json(tallies: Tallies) -> dict[str, JsonValue]:
    """Each scorer's shares, and how they differ from the default's."""
    return {
        name: {
            aspect: {**asdict(share), **asdict(compute_difference(tallies, name, aspect))}
            for aspect in ASPECTS
            if (share := compute_share(tally.of[aspect])) is not None
        }
        for name, tally in tallies.items()
    }
