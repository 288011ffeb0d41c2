"""Measure of citing: precision and recall over replies whose true sources are known.

    python -m tests.turn.citing.measure

Prints both figures for each set of replies; with ``--each`` also what was told wrongly.
"""

import sys
import tomllib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oldfriend.search import PersonIndex
from oldfriend.turn.cited_sources import build_rarity_test, rank_cited_sources
from tests.search.conversation import rows

REPLIES = Path(__file__).with_name("replies.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a reply was made from, and what it was traced to."""

    set: str
    language: str
    reply: str
    true: frozenset[str] = field(default_factory=frozenset)
    cited: frozenset[str] = field(default_factory=frozenset)


def replies_traced() -> Iterator[Told]:
    """Trace each reply to the lines of its history, all of which were shown."""
    histories: dict[str, Any] = tomllib.loads(REPLIES.read_text("utf-8"))
    for name, history in histories.items():
        language = name.rstrip("0123456789")
        lines: dict[str, str] = history["lines"]
        said = [("s1", "Ana", line) for line in lines.values()]
        index = PersonIndex.build(rows(said, language=language, role="person"))
        for each in history["replies"]:
            cited = rank_cited_sources(
                each["reply"],
                each["question"],
                lines,
                languages=[language, language],
                is_rare=build_rarity_test(index),
            )
            yield Told(
                set=each["set"],
                language=language,
                reply=each["reply"],
                true=frozenset(each["because"]),
                cited=frozenset(cited),
            )


def precision(told: Sequence[Told]) -> float:
    """The share of what was cited that the reply was made from."""
    return sum(len(each.true & each.cited) for each in told) / count(each.cited for each in told)


def recall(told: Sequence[Told]) -> float:
    """The share of what replies were made from that was cited."""
    return sum(len(each.true & each.cited) for each in told) / count(each.true for each in told)


def count(sets: Iterator[Collection[str]]) -> int:
    """How many there are in all."""
    return sum(map(len, sets))


def main() -> None:
    """Print both figures."""
    told = [*replies_traced()]
    lines = [
        f"{name}: {len(some)} replies, precision {precision(some):.3f}, recall {recall(some):.3f}"
        for name in ("first", "second", "third")
        if (some := [each for each in told if each.set == name])
    ]
    lines.append(f"all: {len(told)} replies, {precision(told):.3f}, {recall(told):.3f}")
    if "--each" in sys.argv:
        wrong = (each for each in told if each.set != "second" and each.true != each.cited)
        lines += [f"{each.reply}\n    {[*each.true]}\n    {[*each.cited]}" for each in wrong]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
