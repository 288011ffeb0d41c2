"""How is it shown what two memories believe differently? To people as text, to programs as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from oldfriend.app.believing.looking import Belief
from oldfriend.app.believing.showing import belief_as_json, line_of
from oldfriend.app.comparing.differing import (
    FINDINGS,
    Compared,
    Difference,
    Differs,
    Finding,
)
from oldfriend.app.showing import one_line, words_as_text
from oldfriend.domain.ids import short
from oldfriend.domain.json import JsonValue

TITLES: Final[Mapping[Finding, str]] = {
    "only in 1": "Only the first believes",
    "only in 2": "Only the second believes",
    "said otherwise": "Both believe it, in other words",
    "stands otherwise": "Both believe it, but not the same of it",
}


def compared_as_lines(compared: Compared, *, why: bool) -> Iterator[str]:
    """What two memories believe differently of a person, to read."""
    for finding, title in TITLES.items():
        found = [each for each in compared.differences if each.finding == finding]
        if found:
            yield f"{title} ({len(found):,}):"
        for each in found:
            yield from difference_lines(each, zone=compared.zone, why=why)
            if why:
                yield ""
        if found and not why:
            yield ""


def difference_lines(each: Difference, *, zone: str, why: bool) -> Iterator[str]:
    """One difference; with ``why`` also the words behind both sides."""
    sides = [belief for belief in (each.one, each.other) if belief is not None]
    if len(sides) == 1:
        yield f"  {line_of(sides[0].what, zone=zone)}"
    else:
        ids = " ↔ ".join(short(side.what.id) for side in sides)
        line = line_of(sides[0].what, zone=zone)
        yield f"  {ids}  {line.partition('  ')[2].lstrip()}"
        yield from (f"      {differing_line(differs)}" for differs in each.differs)
    if why:
        yield from words_of(each)


def differing_line(differs: Differs) -> str:
    """In what two sides are not the same."""
    return f"{differs.what}: {one_line(differs.one)} → {one_line(differs.other)}"


def words_of(each: Difference) -> Iterator[str]:
    """The words that each side rests on, and who has read them."""
    for number, side in ((1, each.one), (2, each.other)):
        for words in () if side is None else side.words:
            yield f"      {number}: {words_as_text(words)} [{words.extractor}]"


def counts_as_rows(compared: Compared) -> list[tuple[str, ...]]:
    """How much of each kind is the same, and how much is not."""
    titles = ("", "same", "only in 1", "only in 2", "otherwise said", "otherwise standing")
    return [
        titles,
        *(
            (kind, *(f"{counts.get(finding, 0):,}" for finding in FINDINGS))
            for kind, counts in sorted(compared.counts.items())
        ),
    ]


def compared_as_json(compared: Compared) -> dict[str, JsonValue]:
    """The same for a program: everything about both sides, with their words."""
    return {
        "person": compared.person,
        "counts": {
            kind: {finding: counts.get(finding, 0) for finding in FINDINGS}
            for kind, counts in compared.counts.items()
        },
        "differences": [
            {
                "finding": each.finding, "kind": each.kind,
                "first": side_as_json(each.one, compared.zone),
                "second": side_as_json(each.other, compared.zone),
                "differs": [
                    {"what": differs.what, "first": differs.one, "second": differs.other}
                    for differs in each.differs
                ],
            }
            for each in compared.differences
        ],
    }  # fmt: skip


def side_as_json(side: Belief | None, zone: str) -> JsonValue:
    """One side, if there is one."""
    return None if side is None else belief_as_json(side, zone=zone)


def is_same(compared: Sequence[Compared]) -> bool:
    """Whether two memories believe the same of everybody."""
    return not any(each.differences for each in compared)
