"""What came of it, as a table to read and as JSON? Numbers only: nobody's words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import comb
from typing import Final

from oldfriend.domain.json import JsonValue
from oldfriend_evals.report import aligned
from oldfriend_evals.scoring.comparing import (
    ASPECTS,
    DEFAULT,
    Aspect,
    Difference,
    Share,
    Tallies,
    difference,
    share_of,
)

CLEAR: Final = 0.05
MEANING: Final[Mapping[Aspect, str]] = {
    "found": "of what answers, so much is among the first five (r@5)",
    "as it was then": "asked as of a time: what held then was found, before what did not",
    "contradicted": "something overtaken or contradicting stands among the first five",
    "newest first": "nobody noticed a change: the newer stands before the older",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What came of one replay."""

    name: str
    tallies: Tallies

    @property
    def is_anything(self) -> bool:
        """Whether anything could be asked."""
        return any(self.tallies[DEFAULT].of.values())


def as_text(replayed: Sequence[Replayed]) -> str:
    """All replays to read, and whether any scorer is clearly better."""
    lines = [line for each in replayed for line in [f"{each.name}:", *table_of(each.tallies), ""]]
    lines += [f"{aspect}: {meaning}." for aspect, meaning in MEANING.items()]
    lines.append("In brackets: where the share lies in 95 of 100 samples like this one.")
    return "\n".join([*lines, "", *(line for each in replayed for line in verdicts(each))])


def table_of(tallies: Tallies) -> Iterator[str]:
    """A line for each scorer, and one for how much was asked."""
    asked = [aspect for aspect in ASPECTS if tallies[DEFAULT].of[aspect]]
    rows = [("scorer", *asked)]
    for name, tally in tallies.items():
        rows.append((name, *(cell(share_of(tally.of[aspect])) for aspect in asked)))
    rows.append(("questions", *(str(len(tallies[DEFAULT].of[aspect])) for aspect in asked)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return (f"  {aligned(row, widths)}" for row in rows)


def cell(share: Share | None) -> str:
    """A share as it is read."""
    if share is None:
        return ""
    return f"{share.value:.1%} ({share.least:.0%}–{share.most:.0%})"


def verdicts(replayed: Replayed) -> Iterator[str]:
    """In words, how each other scorer differs from the default."""
    for name in replayed.tallies:
        differing = [
            f"{aspect} {told.better} better, {told.worse} worse"
            f"{' (clear)' if is_clear(told) else ''}"
            for aspect in ASPECTS
            if (told := difference(replayed.tallies, name, aspect)).better + told.worse
        ]
        if name != DEFAULT:
            what = "; ".join(differing) or "no question is answered otherwise"
            yield f"{replayed.name}: {name} beside {DEFAULT}: {what}."


def is_clear(told: Difference) -> bool:
    """Whether chance alone would hardly do that (two-sided sign test)."""
    count, fewer = told.better + told.worse, min(told.better, told.worse)
    likely = sum(comb(count, each) for each in range(fewer + 1)) / 2**count
    return count > 0 and 2 * likely < CLEAR


def as_json(replayed: Sequence[Replayed]) -> JsonValue:
    """The same for a program."""
    return [{"of": each.name, "scorers": scorers_as_json(each.tallies)} for each in replayed]


def scorers_as_json(tallies: Tallies) -> dict[str, JsonValue]:
    """Each scorer's shares, and how they differ from the default's."""
    return {
        name: {
            aspect: {**asdict(share), **asdict(difference(tallies, name, aspect))}
            for aspect in ASPECTS
            if (share := share_of(tally.of[aspect])) is not None
        }
        for name, tally in tallies.items()
    }
