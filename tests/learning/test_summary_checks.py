"""Sentences of a summary: those of what was said stay, in whatever words; others go."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from oldfriend.learning.extraction import Extraction
from oldfriend.learning.validate import validate_extraction
from oldfriend.learning.validation.segment_view import build_segment_view
from oldfriend.learning.validation.summary_checks import split_summary
from oldfriend_evals.poison.cases import build_material
from tests.learning.talking import talk

TALKS: Final = Path(__file__).parent / "summaries" / "talks.jsonl"
"""Casual talks in English, German and Spanish, with 40 faithful sentences and 20 others."""
MAX_FAITHFUL_DROPPED: Final = 2
MIN_UNFAITHFUL_DROPPED: Final = 15


def iter_kept(kind: str) -> Iterator[tuple[str, str]]:
    """Yield each sentence of a kind with what is left of it as a summary."""
    for line in TALKS.read_text("utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        material = build_material(row)
        for sentence in row[kind]:
            read = Extraction(author="careful/1", summary=sentence)
            yield sentence, validate_extraction(read, material).extraction.summary


def test_faithful_summary_sentences_are_mostly_kept() -> None:
    """Whole, also where they say in other words what was said."""
    dropped = [sentence for sentence, kept in iter_kept("faithful") if kept != sentence]

    assert len(dropped) <= MAX_FAITHFUL_DROPPED, dropped


def test_unfaithful_summary_sentences_are_mostly_dropped() -> None:
    """Other names and values, others' words as the person's, suggestions, jokes."""
    dropped = [sentence for sentence, kept in iter_kept("unfaithful") if not kept]

    assert len(dropped) >= MIN_UNFAITHFUL_DROPPED, dropped


@pytest.mark.parametrize(
    "sentences",
    [
        ["Saw Dr. Lindner about the back.", "It hurts."],
        ["J. R. Mackie liked it, e.g. the end.", "It is due on 1. February at 3.30 p.m. or so."],
        ["Kauft z. B. Eis bei Fr. Weber.", "Hört am 3.12. von der Uni, am 4. Januar von der Post."],
        ["La Sra. Molina corre 3,5 km.", "El Dr. Ferro no."],
        ["它很好。", "我也是。"],
        ["Nobody knew but I.", "Then it rained."],
    ],
)
def test_a_summary_is_split_between_sentences_only(sentences: Sequence[str]) -> None:
    """Not behind titles, initials, ordinals and in numbers."""
    view = build_segment_view(talk("nothing"))

    assert list(split_summary(" ".join(sentences), view)) == sentences
