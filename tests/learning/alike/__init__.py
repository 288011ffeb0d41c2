"""Pairs of sentences that say the same, almost the same (a trap), or something else.

`pairs.tsv` is what the thresholds in `background/likeness` were measured on; `held_out.tsv` was
written afterwards.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from oldfriend.learning.extraction import Claim

Label = Literal["same", "trap", "different"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """Two sentences, and what a person says about them."""

    language: str
    label: Label
    one: str
    other: str


def labelled(name: str) -> list[Labelled]:
    """The pairs in a file."""
    lines = (Path(__file__).parent / f"{name}.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return [
        Labelled(language=language, label=cast("Label", label), one=one, other=other)
        for language, label, one, other in rows
    ]


def claim(text: str, **fields: object) -> Claim:
    """Something that is usual."""
    return Claim(**{"kind": "pattern", "text": text, "quotes": (), **fields})
